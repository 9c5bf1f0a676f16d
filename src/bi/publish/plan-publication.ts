import { createHash } from 'node:crypto'
import { commentOnTables } from '../base-tables.ts'
import { biIndexes, createIndexes, dropIndexes } from '../views/indexes.ts'
import { biViews } from '../registry.ts'
import {
  commentOnRoles,
  commentOnSchema,
  commentOnView,
  createRoles,
  createView,
  grantTo,
  type Language,
  roles,
  SCHEMA,
} from '../view-statements.ts'
import type { BiState } from './bi-state.ts'

type PlannedFrom = Pick<
  BiState,
  'fingerprint' | 'language' | 'timeZone' | 'indexes' | 'views' | 'hasSchema' | 'mayCreateRoles' | 'roles'
>

/** A database without any of it, whose user may do everything: what a script for an empty one starts from. */
export function emptyBiState(timeZone: string, language: Language = 'en'): PlannedFrom {
  return {
    fingerprint: null,
    language,
    timeZone,
    indexes: new Map(),
    views: new Map(),
    hasSchema: false,
    mayCreateRoles: true,
    roles: [],
  }
}

/**
 * Plans with as little change as possible: views whose columns only grow are replaced in place, so that grants and views of
 * others that stand on them survive; where a column has gone or changed, all views of ours are made anew. Pure.
 * @returns statements for one transaction; none where everything is as this livehouse declares it
 */
export function planPublication(state: PlannedFrom): readonly string[] {
  const { language, timeZone, views, hasSchema } = state
  const definitions = biViews.map((view) => createView(view, timeZone))
  const comments = [
    commentOnSchema(language),
    ...biViews.flatMap((view) => commentOnView(view, language)),
    ...commentOnTables(language),
  ]
  const fingerprint = createHash('sha256')
    .update(JSON.stringify([definitions, comments, [...biIndexes(timeZone)]]))
    .digest('hex')
  const isCurrent = state.fingerprint === fingerprint && biViews.every(({ name }) => views.has(name))
  const newRoles = state.roles.length < Object.keys(roles).length && state.mayCreateRoles ? createRoles(language) : []
  const present = newRoles.length > 0 ? Object.keys(roles) : state.roles.map(({ name }) => name)
  const isGranted = newRoles.length === 0 && state.roles.every((role) => role.isGranted)
  if (isCurrent && isGranted) return []
  const made = isCurrent
    ? []
    : [
        ...(hasSchema ? [] : [`create schema if not exists ${SCHEMA}`]),
        ...dropChanged(views),
        ...definitions,
        ...comments,
        ...createIndexes(timeZone, state.indexes),
        remember(fingerprint, state),
      ]
  const roleWords = isCurrent ? [] : commentOnRoles(language)
  return [...made, ...newRoles, ...roleWords, ...grantTo(present, biViews)]
}

/** One statement for all, so that the order among them does not matter; it stops at a view of somebody else. */
function dropChanged(views: BiState['views']): readonly string[] {
  const declared = new Map(
    biViews.map(({ name, columns }) => [
      name,
      Object.entries(columns).map(([column, { type }]) => `${column} ${type}`),
    ]),
  )
  const isReplaceable = [...views].every(([name, columns]) => {
    const next = declared.get(name)
    return next !== undefined && columns.every((column, index) => column === next[index])
  })
  return isReplaceable ? [] : [dropViews([...views.keys()])]
}

function dropViews(names: readonly string[]): string {
  return `drop view if exists ${names.map((name) => `${SCHEMA}.${name}`).join(', ')}`
}

/** Takes all of it away but the schema, the roles and the settings. @param views those that are there */
export function planWithdrawal(views: readonly string[]): readonly string[] {
  const forget = `update livehouse_ops.bi_settings set fingerprint = null, time_zone = null, views = '{}'`
  return [...(views.length > 0 ? [dropViews(views)] : []), ...dropIndexes, forget]
}

function remember(fingerprint: string, { timeZone, language }: PlannedFrom): string {
  const names = biViews.map(({ name }) => `'${name}'`).join(', ')
  return (
    `update livehouse_ops.bi_settings set fingerprint = '${fingerprint}', time_zone = '${timeZone.replaceAll("'", "''")}', language = '${language}', ` +
    `views = array[${names}]`
  )
}
