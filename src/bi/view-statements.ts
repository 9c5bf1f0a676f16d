import { dollarQuoted, inZone, quoteText as quote } from './quote.ts'
import type { Language, Words } from '../core/column.ts'
import type { BiView } from './view.ts'

export const SCHEMA = 'livehouse_bi'

/** The roles that may read the views; the second sees personal data unmasked. */
export const roles = {
  livehouse_analyst: { en: 'Reads livehouse_bi, personal data masked', zh: '可读 livehouse_bi，个人信息脱敏' },
  livehouse_pii: { en: 'Reads livehouse_bi with personal data in clear', zh: '可读 livehouse_bi，个人信息为明文' },
} as const

export const schemaWords: Words = {
  en: 'For analysts: dimensions, facts and daily figures of the live-streaming account; personal data masked',
  zh: '面向分析师：直播账号的维度、事实与每日指标；个人信息已脱敏',
}

/**
 * Makes a view, or replaces one whose columns are the same or only lack some at the end. Only a view that hides rows is
 * a `security_barrier`: through it Postgres pushes neither order nor limit nor most filters of a query. Masks need
 * none, as they are part of the columns.
 */
export function createView(view: BiView, timeZone: string): string {
  const columns = Object.entries(view.columns).map(([name, { sql }]) => `${sql} as ${name}`)
  const text = `create or replace view ${SCHEMA}.${view.name}${view.hidesRows ? ' with (security_barrier)' : ''} as
  select ${columns.join(',\n    ')}
  ${view.from}`
  return inZone(text, timeZone)
}

/** Needs the right to create a schema only where the schema is missing. */
export function createSchema(schema: string): string {
  return `do $$ begin
  if to_regnamespace('${schema}') is null then create schema ${schema}; end if;
end $$`
}

/**
 * Replaces views in place, so that grants and other people's views on them survive. Where a column has gone or changed,
 * all are dropped, in one statement whatever their order, and made anew; other people's views stop that.
 * @param definitions `create or replace view …`
 * @param present names as SQL
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

/** `COMMENT ON` a view and each of its columns. */
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

/** Roles belong to the whole server: several databases may create them at once, and the first one's comment stays. */
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

/** Grants analysts these views and nothing else. @param present the roles that exist */
export function grantTo(present: readonly string[], schema: string, views: readonly string[]): readonly string[] {
  if (present.length === 0) return []
  const to = present.join(', ')
  const names = views.map((view) => `${schema}.${view}`).join(', ')
  return [`grant usage on schema ${schema} to ${to}`, `grant select on ${names} to ${to}`]
}
