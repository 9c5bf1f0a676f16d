import type { Cell } from '../core/column.ts'
import { formatWallDate, type WallTime } from '../core/wall-clock.ts'
import {
  giftFields,
  giverFields,
  managerFields,
  questionnaireFields,
  recordFields,
  showsGiver,
  truthRow,
  unknownToV1,
  usageFields,
  visitorFields,
} from './fields.ts'
import type { Switches } from './switches.ts'
import type { Channel, Manager, Questionnaire, Signup, Visitor, WatchRecord } from './world/world.ts'

/** One row that the warehouse must hold; `answers` is the value of the jsonb column. */
export type TruthRow = Readonly<Record<string, Cell | readonly TruthAnswer[]>>

interface TruthAnswer {
  readonly question: string | null
  readonly answer: string | null
}

/** What the rows of a world depend on besides it. */
export interface Reading {
  readonly switches: Readonly<Switches>
  readonly second: (time: WallTime) => string
}

/** Name and administrator are told by the visitors alone (API 2.5). */
export function channelRow({ id, name, adminId, visitors }: Channel): TruthRow {
  const isKnown = visitors.rows.length > 0
  return { channel_id: id, name: isKnown ? text(name) : null, admin_id: isKnown ? adminId : null }
}

/** API 4.7. */
export function visitorRow({ id }: Channel, row: Visitor, { second }: Reading): TruthRow {
  return { channel_id: id, ...truthRow(visitorFields, row, second) }
}

/** API 4.5. */
export function recordRow({ id }: Channel, row: WatchRecord, { second }: Reading): TruthRow {
  return { channel_id: id, ...truthRow(recordFields, row, second), api_version: 2 }
}

/** API 4.6. */
export function oldRecordRow(channel: Channel, row: WatchRecord, reading: Reading): TruthRow {
  const unknown = Object.fromEntries(unknownToV1.map((column) => [column, null]))
  return { ...recordRow(channel, row, reading), ...unknown, api_version: 1 }
}

/** API 4.12, of one channel. */
export function giftRows(channel: Channel, { switches, second }: Reading): TruthRow[] {
  const rows = channel.gifts.rows.map((row) => ({
    channel_id: channel.id,
    gift_type: row.type,
    visitor_id: null,
    visitor_name: null,
    ...(showsGiver(row, switches) && truthRow(giverFields, row, second)),
    ...truthRow(giftFields, row, second),
  }))
  return numberOccurrences<Readonly<Record<string, Cell>>>(
    rows,
    (row) => [row.gift_type, row.given_at, row.gift_id, row.amount],
    (row) => [row.visitor_id, row.visitor_name, row.phone],
  )
}

/** API 4.10. */
export function questionnaireRow({ id }: Channel, row: Questionnaire, { second }: Reading): TruthRow {
  const own = truthRow(questionnaireFields, row, second)
  return { channel_id: id, ...own, is_open: row.isOpen, created_at: second(row.createdAt) }
}

/** API 4.11: each row with those of its answers. */
export function signupRows(channel: Channel, reading: Reading) {
  return channel.questionnaires.rows.flatMap((form) => {
    const rows = form.signups.rows.map((row) => signupRow(channel, form, row, reading))
    const numbered = numberOccurrences(
      rows,
      (row) => [row.user_id, row.signed_up_at],
      (row) => [row.nickname, row.phone, ...row.answers.map(({ answer }) => answer)],
    )
    return numbered.map((row) => ({ row, answers: answerRows(row) }))
  })
}

function signupRow({ id }: Channel, form: Questionnaire, row: Signup, { second }: Reading) {
  return {
    channel_id: id,
    question_id: form.questionId,
    user_id: text(row.userId),
    nickname: text(row.nick),
    phone: text(row.phone),
    signed_up_at: second(row.signedUpAt),
    answers: form.questions.map((question, index) => ({
      question: text(question),
      answer: text(row.answers[index] ?? ''),
    })),
  }
}

function answerRows(row: ReturnType<typeof signupRow> & { readonly occurrence: number }): TruthRow[] {
  const { channel_id, question_id, user_id, signed_up_at, occurrence } = row
  const parent = { channel_id, question_id, user_id, signed_up_at, occurrence }
  return row.answers.map(({ question, answer }, index) => ({ ...parent, question_no: index + 1, question, answer }))
}

/** API 4.9. */
export function managerRow(row: Manager, { second }: Reading): TruthRow {
  return truthRow(managerFields, row, second)
}

/** API 4.8. */
export function usageRow(row: Manager, now: WallTime, { second }: Reading): TruthRow {
  return { ...truthRow(usageFields, row, second), snapshot_date: formatWallDate(now) }
}

function text(value: string): string | null {
  return value === '' ? null : value
}

type Cells = readonly (Cell | undefined)[]

/**
 * Numbers rows without an id, 1, 2 … among those of equal identity: ordered by their remaining values, null before any
 * text, texts by code unit.
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
  for (const [index, left] of a.entries()) {
    const right = b[index] ?? null
    if (left === right) continue
    if (left === null) return -1
    if (right === null) return 1
    return String(left) < String(right) ? -1 : 1
  }
  return 0
}
