import type { Language, Words } from '../core/column.ts'
import { dollarQuote, fillZone, quoteText } from './quote.ts'
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
 * Creates a view, or replaces it in place, which works only if it keeps its columns and adds new ones at the end. Only
 * a view that hides rows is a `security_barrier`: Postgres pushes neither order, limit nor most filters of a query into
 * one. Masks need no barrier, as they are part of the columns.
 */
export function createView(view: BiView, timeZone: string): string {
  const columns = Object.entries(view.columns).map(([name, { sql }]) => `${sql} as ${name}`)
  const text = `create or replace view ${SCHEMA}.${view.name}${view.hidesRows ? ' with (security_barrier)' : ''} as
  select ${columns.join(',\n    ')}
  ${view.from}`
  return fillZone(text, timeZone)
}

/** Creates a schema. Unlike `create schema if not exists`, needs the privilege to do so only if it is missing. */
export function createSchema(schema: string): string {
  return `do $$ begin
  if to_regnamespace('${schema}') is null then create schema ${schema}; end if;
end $$`
}

/**
 * Replaces views in place, so that grants and other people's views on them survive. If a column is gone or has another
 * type, drops all of them at once and creates them again, which fails if other people's views depend on them.
 * @param definitions `create or replace view …`
 * @param existing names of the existing views, as SQL
 */
export function replaceViews(definitions: readonly string[], existing: readonly string[]): string {
  const body = `declare definitions text := ${dollarQuote(definitions.join(';\n'))};
begin
  execute definitions;
exception when invalid_table_definition then
  drop view if exists ${existing.join(', ')};
  execute definitions;
end`
  return existing.length === 0 ? definitions.join(';\n') : `do ${dollarQuote(body)}`
}

/** Comments on a view and on each of its columns. */
export function commentOnView(view: BiView, language: Language): readonly string[] {
  const { name, grain, remarks, columns } = view
  const parts =
    language === 'en'
      ? [`A row is: ${grain.en.charAt(0).toLowerCase()}${grain.en.slice(1)}.`, remarks.en]
      : [`每行：${grain.zh}。`, remarks.zh]
  const text = parts.filter((part) => part !== '').join(language === 'en' ? ' ' : '')
  return [
    `comment on view ${SCHEMA}.${name} is ${quoteText(text)}`,
    ...Object.entries(columns).map(
      ([column, { words }]) => `comment on column ${SCHEMA}.${name}.${column} is ${quoteText(words[language])}`,
    ),
  ]
}

/** Creates missing roles of the server. Several databases may do so at once; the comment of the first one stays. */
export function createRoles(language: Language): readonly string[] {
  return Object.entries(roles).map(
    ([role, words]) => `do $$ begin
  if to_regrole('${role}') is null then
    create role ${role} nologin;
    comment on role ${role} is ${quoteText(words[language])};
  end if;
exception when duplicate_object or unique_violation then null;
end $$`,
  )
}

/** Grants analysts these views and nothing else. @param grantees the roles that exist */
export function grantViews(grantees: readonly string[], schema: string, views: readonly string[]): readonly string[] {
  if (grantees.length === 0) return []
  const to = grantees.join(', ')
  const names = views.map((view) => `${schema}.${view}`).join(', ')
  return [`grant usage on schema ${schema} to ${to}`, `grant select on ${names} to ${to}`]
}
