import type { WallTime } from '../core/wall-clock.ts'
import { type Answer, jsonAnswer, refusals, refuse } from './answer.ts'
import type { Switches } from './switches.ts'
import * as rows from './truth-rows.ts'
import { createInstantReader } from './wire.ts'
import type { RowList } from './world/row-list.ts'
import type { Channel, World } from './world/world.ts'

export const truthTables = [
  'channels',
  'visitors',
  'watch_records',
  'watch_records_v1',
  'gifts',
  'questionnaires',
  'signups',
  'signup_answers',
  'managers',
  'manager_usage',
] as const

type TruthTable = (typeof truthTables)[number]

/**
 * What the warehouse must hold of this world, by table, with the contract's column names (section 3): durations in
 * seconds, money and bigint as text, times as `YYYY-MM-DDTHH:MM:SSZ`, dates as `YYYY-MM-DD`, null for empty.
 * `watch_records_v1` is what only version 1 delivers. Signup answers name their parent by `user_id`, `signed_up_at` and
 * `occurrence`.
 */
export type Truth = Readonly<Record<TruthTable, readonly rows.TruthRow[]> & Record<string, readonly rows.TruthRow[]>>

/** @param now the service's wall clock, for `snapshot_date`. */
export function readTruth(world: World, switches: Readonly<Switches>, now: WallTime): Truth {
  const toInstant = createInstantReader(world.timeZone)
  const second = (time: WallTime) => `${new Date(toInstant(time) * 1000).toISOString().slice(0, 19)}Z`
  const reading: rows.Reading = { switches, second }
  const channels = [...world.channels.values()]
  /** Of every channel, each of its rows. */
  const each = <Row extends object>(list: (channel: Channel) => RowList<Row>, read: ReadRow<Row>) =>
    channels.flatMap((channel) => list(channel).rows.map((row) => read(channel, row, reading)))
  const signups = channels.flatMap((channel) => rows.signupRows(channel, reading))
  return {
    channels: channels.map(rows.channelRow),
    visitors: each(({ visitors }) => visitors, rows.visitorRow),
    watch_records: each(({ records }) => records, rows.recordRow),
    watch_records_v1: each(({ oldRecords }) => oldRecords, rows.oldRecordRow),
    gifts: channels.flatMap((channel) => rows.giftRows(channel, reading)),
    questionnaires: each(({ questionnaires }) => questionnaires, rows.questionnaireRow),
    signups: signups.map(({ row }) => row),
    signup_answers: signups.flatMap(({ answers }) => answers),
    managers: world.managers.rows.map((row) => rows.managerRow(row, reading)),
    manager_usage: world.managers.rows.map((row) => rows.usageRow(row, now, reading)),
  }
}

type ReadRow<Row> = (channel: Channel, row: Row, reading: rows.Reading) => rows.TruthRow

/** `/__truth`, `/__truth/counts` and `/__truth/TABLE`: for checks from another process; undefined for other paths. */
export function answerTruth(path: string, read: () => Truth): Answer | undefined {
  const [, root, table, ...rest] = path.split('/')
  if (root !== '__truth' || rest.length > 0) return undefined
  if (table === undefined) return jsonAnswer(read())
  const tables = Object.entries(read())
  if (table === 'counts') return jsonAnswer(Object.fromEntries(tables.map(([name, { length }]) => [name, length])))
  const rows = tables.find(([name]) => name === table)?.[1]
  return rows ? jsonAnswer(rows) : refuse('errors', refusals.notFound('table'), 'matching')
}
