import type { Cell } from '../core/column.ts'
import { formatWallDate, type WallTime } from '../core/wall-clock.ts'
import * as fields from './fields.ts'
import type { Switches } from './switches.ts'
import { createInstantReader } from './wire.ts'
import type { Channel, Questionnaire, Signup, WatchRecord, World } from './world/world.ts'

/** A row that the warehouse must hold; `answers` is the value of its jsonb column. */
export type TruthRow = Readonly<Record<string, Cell | readonly Record<'question' | 'answer', string | null>[]>>

/**
 * The rows that the warehouse must hold, by table and with its column names: durations in seconds, money and bigint as
 * text, times as `YYYY-MM-DDTHH:MM:SSZ`, dates as `YYYY-MM-DD`, null for empty text.
 * `watch_records_v1` has those that only version 1 delivers. Signup answers refer to their parent by `user_id`,
 * `signed_up_at` and `occurrence`.
 */
export type Truth = Readonly<ReturnType<typeof readTruth> & Record<string, readonly TruthRow[]>>

type Second = (time: WallTime) => string

/** Computes what the warehouse must hold of a world. @param now the service's time, for `snapshot_date` */
export function readTruth(world: World, switches: Readonly<Switches>, now: WallTime) {
  const toInstant = createInstantReader(world.timeZone)
  const second: Second = (time) => `${new Date(toInstant(time) * 1000).toISOString().slice(0, 19)}Z`
  /** The rows of all channels, each with its channel's id. */
  const gather = (rowsOf: (channel: Channel) => readonly TruthRow[]): readonly TruthRow[] =>
    [...world.channels.values()].flatMap((channel) =>
      rowsOf(channel).map((row) => ({ channel_id: channel.id, ...row })),
    )
  const signups = [...world.channels.values()].flatMap((channel) => signupRows(channel, second))
  const notInV1 = Object.fromEntries(fields.columnsNotInV1.map((column) => [column, null]))
  const recordRow = (row: WatchRecord) => fields.truthRow(fields.recordFields, row, second)
  return {
    // Only items of visitors have the channel's name and administrator (API 2.5).
    channels: gather(({ name, adminId, visitors }) => [
      visitors.rows.length > 0 ? { name: text(name), admin_id: adminId } : { name: null, admin_id: null },
    ]),
    visitors: gather(({ visitors }) => visitors.rows.map((row) => fields.truthRow(fields.visitorFields, row, second))),
    watch_records: gather(({ records }) => records.rows.map((row) => ({ ...recordRow(row), api_version: 2 }))),
    watch_records_v1: gather(({ oldRecords }) =>
      oldRecords.rows.map((row) => ({ ...recordRow(row), ...notInV1, api_version: 1 })),
    ),
    gifts: gather((channel) => giftRows(channel, switches, second)),
    questionnaires: gather(({ questionnaires }) =>
      questionnaires.rows.map((row) => {
        const own = fields.truthRow(fields.questionnaireFields, row, second)
        return { ...own, is_open: row.isOpen, created_at: second(row.createdAt) }
      }),
    ),
    signups: signups.map((row): TruthRow => row),
    signup_answers: signups.flatMap(answerRows),
    manager_usage: world.managers.rows.map((row): TruthRow => {
      return { ...fields.truthRow(fields.usageFields, row, second), snapshot_date: formatWallDate(now) }
    }),
    managers: world.managers.rows.map((row) => fields.truthRow(fields.managerFields, row, second)),
  }
}

function giftRows({ gifts }: Channel, switches: Readonly<Switches>, second: Second): TruthRow[] {
  const rows = gifts.rows.map(
    (row): Readonly<Record<string, Cell>> => ({
      gift_type: row.type,
      visitor_id: null,
      visitor_name: null,
      ...(fields.showsGiver(row, switches) && fields.truthRow(fields.giverFields, row, second)),
      ...fields.truthRow(fields.giftFields, row, second),
    }),
  )
  return numberOccurrences(
    rows,
    (row) => [row.gift_type, row.given_at, row.gift_id, row.amount],
    (row) => [row.visitor_id, row.visitor_name, row.phone],
  )
}

function signupRows({ id, questionnaires }: Channel, second: Second) {
  return questionnaires.rows.flatMap((form) =>
    numberOccurrences(
      form.signups.rows.map((row) => signupRow(id, form, row, second)),
      (row) => [row.user_id, row.signed_up_at],
      (row) => [row.nickname, row.phone, ...row.answers.map(({ answer }) => answer)],
    ),
  )
}

function signupRow(channelId: string, { questionId, questions }: Questionnaire, row: Signup, second: Second) {
  return {
    channel_id: channelId,
    question_id: questionId,
    user_id: text(row.userId),
    nickname: text(row.nick),
    phone: text(row.phone),
    signed_up_at: second(row.signedUpAt),
    answers: questions.map((question, index) => ({
      question: text(question),
      answer: text(row.answers[index] ?? ''),
    })),
  }
}

function answerRows({ answers, ...signup }: ReturnType<typeof signupRows>[number]): TruthRow[] {
  const { channel_id, question_id, user_id, signed_up_at, occurrence } = signup
  const parent = { channel_id, question_id, user_id, signed_up_at, occurrence }
  return answers.map(({ question, answer }, index) => ({ ...parent, question_no: index + 1, question, answer }))
}

function text(value: string): string | null {
  return value === '' ? null : value
}

type Cells = readonly (Cell | undefined)[]

/**
 * Numbers the rows of equal identity 1, 2 … in the order of their remaining values: null before any text, texts by
 * code unit.
 */
function numberOccurrences<Item extends object>(
  rows: readonly Item[],
  identityOf: (row: Item) => Cells,
  remainderOf: (row: Item) => Cells,
): (Item & { readonly occurrence: number })[] {
  const groups = Map.groupBy(rows, (row) => JSON.stringify(identityOf(row)))
  return [...groups.values()].flatMap((group) =>
    group
      .sort((a, b) => compareTexts(remainderOf(a), remainderOf(b)))
      .map((row, index) => ({ ...row, occurrence: index + 1 })),
  )
}

function compareTexts(a: Cells, b: Cells): number {
  const place = a.findIndex((cell, index) => cell !== (b[index] ?? null))
  if (place === -1) return 0
  return String(a[place] ?? '') < String(b[place] ?? '') ? -1 : 1
}
