import { commentOnTables } from '../base-tables.ts'
import { quoteText } from '../quote.ts'
import { biViews, figures } from '../registry.ts'
import {
  commentOnView,
  createRoles,
  createSchema,
  createView,
  grantViews,
  replaceViews,
  roles,
  SCHEMA,
  schemaWords,
} from '../view-statements.ts'
import { createChangeTriggers, dropChangeTriggers, lockFigures } from '../views/change-triggers.ts'
import { refreshChannels } from '../views/fragments/channel-figures.ts'
import { createIndexes, dropIndexes } from '../views/indexes.ts'
import { createViewersBetween, VIEWERS_BETWEEN } from '../views/viewers-between.ts'
import { type BiState, fingerprintOf } from './bi-state.ts'

const qualify = (view: string) => `${SCHEMA}.${view}`
const dropViews = (names: readonly string[]) => `drop view if exists ${names.map(qualify).join(', ')}`
const definitionsOf = (timeZone: string) => biViews.map((view) => createView(view, timeZone))

const figureStatements = ['{zone}', '/{zone}'].map((zone) => refreshChannels(figures, '', zone))
/** Differs between versions of livehouse that define views or compute figures differently, whatever the zone. */
export const viewsVersion = fingerprintOf([definitionsOf('{zone}'), figureStatements])

/** Plans the statements of a publication, for one transaction; none if everything is as declared. Pure. */
export function planPublication({ language, timeZone, ...state }: BiState): readonly string[] {
  const definitions = definitionsOf(timeZone)
  const tableObjects = [...createIndexes(timeZone), ...createChangeTriggers(timeZone, viewsVersion)]
  const comments = [
    `comment on schema ${SCHEMA} is ${quoteText(schemaWords[language])}`,
    ...biViews.flatMap((view) => commentOnView(view, language)),
    ...commentOnTables(language),
  ]
  const grantees = state.mayCreateRoles ? Object.keys(roles) : state.roles
  const fingerprint = fingerprintOf([definitions, comments, tableObjects, createViewersBetween(timeZone, language, [])])
  if (state.fingerprint === fingerprint && state.isWhole && grantees.length === state.roles.length) return []
  const names = biViews.map(({ name }) => name)
  const removedViews = state.views.filter((name) => !names.includes(name))
  const viewList = names.map((name) => quoteText(name)).join(', ')
  return [
    // Waits for processes that still compute figures in the old way, before it takes locks that readers wait for.
    lockFigures,
    ...tableObjects,
    createSchema(SCHEMA),
    ...(removedViews.length > 0 ? [dropViews(removedViews)] : []),
    replaceViews(definitions, state.views.map(qualify)),
    ...comments,
    `update livehouse_ops.bi_settings set fingerprint = '${fingerprint}', time_zone = ${quoteText(timeZone)},
      language = '${language}', views = array[${viewList}]`,
    ...(state.mayCreateRoles ? createRoles(language) : []),
    ...grantViews(grantees, SCHEMA, names),
    ...createViewersBetween(timeZone, language, grantees),
  ]
}

/** Plans the removal of everything but the schema, the roles and the settings. @param views the published ones */
export function planWithdrawal(views: readonly string[]): readonly string[] {
  const resetSettings = `update livehouse_ops.bi_settings set fingerprint = null, time_zone = null, views = '{}'`
  return [
    `drop function if exists ${VIEWERS_BETWEEN}`,
    ...(views.length > 0 ? [dropViews(views)] : []),
    ...dropIndexes,
    ...dropChangeTriggers,
    resetSettings,
  ]
}
