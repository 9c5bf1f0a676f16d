import { dollarQuoted, inZone, quoteText as quote } from './quote.ts'
import type { Words } from '../core/column.ts'
import type { BiView } from './view.ts'

/** In which language the database describes its views. */
export type Language = 'en' | 'zh'

export const SCHEMA = 'livehouse_bi'

/** The roles that the views are granted to; the second sees personal data in clear. */
export const roles = {
  livehouse_analyst: {
    en: 'Reads livehouse_bi, personal data masked',
    zh: '可读 livehouse_bi，个人信息脱敏',
  },
  livehouse_pii: {
    en: 'Reads livehouse_bi with personal data in clear',
    zh: '可读 livehouse_bi，个人信息为明文',
  },
} as const

export const schemaWords: Words = {
  en: 'For analysts: dimensions, facts and daily figures of the live-streaming account; personal data masked',
  zh: '面向分析师：直播账号的维度、事实与每日指标；个人信息已脱敏',
}

/**
 * Makes a view, or gives one that has the same columns, or fewer at the end, its new definition. Only where it hides
 * rows it is a barrier, behind which Postgres uses neither order nor limit nor most filters of a query. Masks need
 * none: they stand in the columns.
 */
export function createView(view: BiView, timeZone: string): string {
  const columns = Object.entries(view.columns).map(([name, { sql }]) => `${sql} as ${name}`)
  const text = `create or replace view ${SCHEMA}.${view.name}${view.hidesRows ? ' with (security_barrier)' : ''} as
  select ${columns.join(',\n    ')}
  ${view.from}`
  return inZone(text, timeZone)
}

/** Asks for the right to make a schema only where there is none. */
export function createSchema(schema: string): string {
  return `do $$ begin
  if to_regnamespace('${schema}') is null then create schema ${schema}; end if;
end $$`
}

/**
 * Replaces views in place, so that grants and views of others that stand on them survive; where a column has gone or
 * changed, those that are there are dropped, all in one statement so that their order does not matter, and made anew.
 * It stops at a view of somebody else. @param definitions `create or replace view …`; @param present names as SQL
 */
export function replaceViews(definitions: readonly string[], present: readonly string[]): string {
  const body = `declare definitions text := ${dollarQuoted(definitions.join(';\n'))};
begin
  execute definitions;
exception when invalid_table_definition then
  drop view if exists ${present.join(', ')};
  execute definitions;
end`
  return present.length === 0 ? definitions.join(';\n') : `do ${dollarQuoted(body)}`
}

/** `COMMENT ON` the schema, a view and each of its columns. */
export function commentOnSchema(language: Language): string {
  return `comment on schema ${SCHEMA} is ${quote(schemaWords[language])}`
}

export function commentOnView(view: BiView, language: Language): readonly string[] {
  const { name, grain, remarks, columns } = view
  const parts =
    language === 'en'
      ? [`A row is: ${grain.en.charAt(0).toLowerCase()}${grain.en.slice(1)}.`, remarks.en]
      : [`每行：${grain.zh}。`, remarks.zh]
  const text = parts.filter((part) => part !== '').join(language === 'en' ? ' ' : '')
  return [
    `comment on view ${SCHEMA}.${name} is ${quote(text)}`,
    ...Object.entries(columns).map(
      ([column, { words }]) => `comment on column ${SCHEMA}.${name}.${column} is ${quote(words[language])}`,
    ),
  ]
}

/** Roles belong to the whole server: several databases may make them at once, and the first says what they are. */
export function createRoles(language: Language): readonly string[] {
  return Object.entries(roles).map(
    ([role, words]) => `do $$ begin
  if to_regrole('${role}') is null then
    create role ${role} nologin;
    comment on role ${role} is ${quote(words[language])};
  end if;
exception when duplicate_object or unique_violation then null;
end $$`,
  )
}

/** What analysts get: these views, named as SQL, and nothing else. @param present the roles that are there */
export function grantTo(present: readonly string[], schema: string, views: readonly string[]): readonly string[] {
  if (present.length === 0) return []
  const to = present.join(', ')
  const names = views.map((view) => `${schema}.${view}`).join(', ')
  return [`grant usage on schema ${schema} to ${to}`, `grant select on ${names} to ${to}`]
}
