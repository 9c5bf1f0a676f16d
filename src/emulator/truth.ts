import type { WallTime } from '../core/wall-clock.ts'
import { type Answer, jsonAnswer, refusals, refuse } from './answer.ts'
import type { Switches } from './switches.ts'
import {
  channelRow,
  giftRows,
  managerRow,
  questionnaireRow,
  type Reading,
  recordRow,
  signupRows,
  type TruthRow,
  usageRow,
  visitorRow,
  withoutV1Fields,
} from './truth-rows.ts'
import { createInstantReader } from './wire.ts'
import type { Channel, Questionnaire, World } from './world/world.ts'

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
 * What the warehouse must hold of this world, by table, with the contract's column names (section 3): durations in seconds,
 * money and bigint as text, times as `YYYY-MM-DDTHH:MM:SSZ`, dates as `YYYY-MM-DD`, null for empty. `watch_records_v1` is what
 * only version 1 delivers. Signup answers name their parent by `user_id`, `signed_up_at` and `occurrence`.
 */
export type Truth = Readonly<Record<TruthTable, readonly TruthRow[]> & Record<string, readonly TruthRow[]>>

/** @param now the service's wall clock, for `snapshot_date`. */
export function readTruth(world: World, switches: Readonly<Switches>, now: WallTime): Truth {
  const toInstant = createInstantReader(world.timeZone)
  const second = (time: WallTime) => `${new Date(toInstant(time) * 1000).toISOString().slice(0, 19)}Z`
  const reading: Reading = { switches, second }
  const channels = [...world.channels.values()]
  const signups = channels.flatMap((channel) => signupRows(channel, reading))
  return {
    channels: channels.map(channelRow),
    visitors: channels.flatMap((channel) => channel.visitors.rows.map((row) => visitorRow(channel, row, reading))),
    watch_records: channels.flatMap((channel) => channel.records.rows.map((row) => recordRow(channel, row, reading))),
    watch_records_v1: channels.flatMap((channel) =>
      channel.oldRecords.rows.map((row) => ({ ...recordRow(channel, row, reading), ...withoutV1Fields })),
    ),
    gifts: channels.flatMap((channel) => giftRows(channel, reading)),
    questionnaires: channels.flatMap((channel) =>
      channel.questionnaires.rows.map((row) => questionnaireRow(channel, row, reading)),
    ),
    signups: signups.map(({ row }) => row),
    signup_answers: signups.flatMap(({ answers }) => answers),
    managers: world.managers.rows.map(managerRow),
    manager_usage: world.managers.rows.map((row) => usageRow(row, now, reading)),
  }
}

/** How many rows each table must hold, without building them. */
export function countTruth(world: World): Readonly<Record<TruthTable, number>> {
  const channels = [...world.channels.values()]
  const sum = (count: (channel: Channel) => number) => channels.reduce((total, channel) => total + count(channel), 0)
  const perForm = (channel: Channel, count: (form: Questionnaire) => number) =>
    channel.questionnaires.rows.reduce((total, form) => total + count(form), 0)
  return {
    channels: channels.length,
    visitors: sum((channel) => channel.visitors.rows.length),
    watch_records: sum((channel) => channel.records.rows.length),
    watch_records_v1: sum((channel) => channel.oldRecords.rows.length),
    gifts: sum((channel) => channel.gifts.rows.length),
    questionnaires: sum((channel) => channel.questionnaires.rows.length),
    signups: sum((channel) => perForm(channel, (form) => form.signups.rows.length)),
    signup_answers: sum((channel) => perForm(channel, (form) => form.signups.rows.length * form.questions.length)),
    managers: world.managers.rows.length,
    manager_usage: world.managers.rows.length,
  }
}

/** `/__truth`, `/__truth/counts` and `/__truth/TABLE`: for checks from another process; undefined for other paths. */
export function answerTruth(path: string, world: World, read: () => Truth): Answer | undefined {
  const [, root, table, ...rest] = path.split('/')
  if (root !== '__truth' || rest.length > 0) return undefined
  if (table === undefined) return jsonAnswer(read())
  if (table === 'counts') return jsonAnswer(countTruth(world))
  const rows = Object.entries(read()).find(([name]) => name === table)?.[1]
  return rows ? jsonAnswer(rows) : refuse('errors', refusals.notFound('table'), 'matching')
}
