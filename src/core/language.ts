/** The languages of what people read: pages, alerts, comments in the database. */
export const languages = ['en', 'zh-CN'] as const

export type Language = (typeof languages)[number]
