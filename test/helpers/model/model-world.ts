import { DAY, MINUTE, type WallTime, wallTimeAt } from '../../../src/core/wall-clock.ts'
import type { TruthRow } from '../../../src/emulator/truth.ts'
import { createWorld } from '../../../src/emulator/world/create-world.ts'
import { createRowList } from '../../../src/emulator/world/row-list.ts'
import type { Channel, Gift, Signup, Visitor, WatchRecord, World } from '../../../src/emulator/world/world.ts'
import { FIXED_NOW } from '../emulated-service.ts'
import { firstRows } from '../first-rows.ts'
import type { ListName, Mutation } from './schedule.ts'

const timeZone = 'Asia/Shanghai'
const endsAt = wallTimeAt(FIXED_NOW, timeZone)
const sample = createWorld({ seed: 1, channels: 1, viewers: 40, days: 3, endsAt, timeZone })

/** How old a row may be for a sync to notice its change. */
export const LOOKBACK_DAYS: Readonly<Record<ListName, number>> = { visitors: 365, records: 3, gifts: 1, signups: 1 }

/** The streams that a sync of each list reads. */
export const streamsOf = {
  visitors: ['visitors'],
  records: ['watch_records'],
  gifts: ['gifts'],
  signups: ['questionnaires', 'signups'],
} as const satisfies Record<ListName, readonly string[]>

/**
 * Nothing is claimed about younger rows: the ledger covers what is five minutes old, in whole minutes, and a list may
 * move after that without a report. The next run reads these rows again.
 */
export const SETTLE = 6 * MINUTE

/** The values that identify a row of a stream in its channel, as text. */
export function identityOf(stream: string, row: TruthRow): string {
  const names: Partial<Record<string, readonly string[]>> = {
    visitors: ['user_id'],
    watch_records: ['record_id'],
    watch_records_v1: ['record_id'],
    managers: ['manager_id'],
    gifts: ['gift_type', 'given_at', 'gift_id', 'amount'],
    signups: ['question_id', 'user_id', 'signed_up_at'],
  }
  return JSON.stringify((names[stream] ?? ['question_id']).map((name) => row[name]))
}

/** The row's times in milliseconds, by any of which the service may filter. Rows of whole lists have none. */
export function timesOf({ given_at, signed_up_at, entered_at, left_at }: TruthRow): readonly number[] {
  return [given_at, signed_up_at, entered_at, left_at].flatMap((at) => (typeof at === 'string' ? Date.parse(at) : []))
}

/** How rows of one list are made and changed. */
interface RowActions<Row> {
  readonly make: (at: WallTime) => Row
  readonly timeOf: (row: Row) => WallTime
  readonly change: (row: Row) => Row
  readonly jump: (row: Row, at: WallTime) => Row
  readonly twin: (row: Row) => Row
}

export type ModelWorld = ReturnType<typeof createModelWorld>

/** Creates a world of one channel, whose lists have a row for each age (minutes before the start). */
export function createModelWorld(ages: readonly number[]) {
  const { channel: from, visitor, record, gift, form, signup } = firstRows({ world: sample })
  let number = 0
  const nick = () => `n${number}`
  const createList = <Row extends object>({ make, timeOf, change, jump, twin }: RowActions<Row>) => {
    const list = createRowList(ages.map((age) => make(Math.round(endsAt - (age + 1) * MINUTE))))
    const mutate = ({ op, pick, age }: Mutation, now: WallTime, lookback: number): void => {
      if (op === 'add')
        return list.add(make(now - MINUTE - ((age * MINUTE) % (Math.min(lookback, 8 * DAY) - 2 * MINUTE))))
      const within = list.rows.filter((row) => timeOf(row) >= now - lookback + MINUTE)
      const row = within[pick % Math.max(1, within.length)]
      if (row === undefined) return
      number++
      if (op === 'remove') list.remove(row)
      else if (op === 'twin') list.add(twin(row))
      else list.replace(row, op === 'jump' ? jump(row, now - 30) : change(row))
    }
    return { list, mutate }
  }
  const lists = {
    visitors: createList<Visitor>({
      make: (at) => ({ ...visitor, userId: `v${++number}`, firstLoginAt: at, lastOnlineAt: at + 30 }),
      timeOf: (row) => row.lastOnlineAt,
      change: (row) => ({ ...row, nick: nick(), watchSeconds: row.watchSeconds + 7 }),
      jump: (row, at) => ({ ...row, lastOnlineAt: at, visitTimes: row.visitTimes + 1 }),
      twin: (row) => ({ ...row, userId: `v${number}` }),
    }),
    records: createList<WatchRecord>({
      make: (at) => ({ ...record, recordId: String(++number), enteredAt: at, leftAt: at + 45 }),
      timeOf: (row) => row.enteredAt,
      change: (row) => ({ ...row, nick: nick(), watchSeconds: row.watchSeconds + 7 }),
      jump: (row, at) => ({ ...row, leftAt: at }),
      twin: (row) => ({ ...row, recordId: String(number) }),
    }),
    gifts: createList<Gift>({
      make: (at) => {
        return { ...gift, type: ++number % 3 > 0 ? 'cash' : 'prop', giftId: number % 2, givenAt: at, phone: null }
      },
      timeOf: (row) => row.givenAt,
      change: (row) => ({ ...row, phone: `1380000${number}` }),
      jump: (row) => ({ ...row, phone: null }),
      twin: (row) => ({ ...row, phone: number % 2 ? row.phone : `1390000${number}` }),
    }),
    signups: createList<Signup>({
      // More people than rows per page: repeated pages of the same people would mean an ignored page parameter.
      make: (at) => ({ ...signup, userId: `u${++number % 17}`, signedUpAt: at }),
      timeOf: (row) => row.signedUpAt,
      change: (row) => ({ ...row, nick: nick() }),
      jump: (row) => ({ ...row, answers: row.answers.with(0, nick()) }),
      twin: (row) => ({ ...row, nick: number % 2 ? row.nick : nick() }),
    }),
  }
  const channel: Channel = {
    ...from,
    visitors: lists.visitors.list,
    records: lists.records.list,
    oldRecords: createRowList(),
    gifts: lists.gifts.list,
    questionnaires: createRowList([{ ...form, signups: lists.signups.list }]),
    menus: new Map(),
  }
  const world: World = { ...sample, channels: new Map([[channel.id, channel]]), managers: createRowList() }
  return {
    world,
    /**
     * Changes a list at this time of the service's clock, if it has a suitable row.
     * @param lookbackDays older rows do not change; by default the lookback of the stream
     */
    mutate: (list: ListName, mutation: Mutation, now: WallTime, lookbackDays = LOOKBACK_DAYS[list]) =>
      lists[list].mutate(mutation, now, lookbackDays * DAY),
  }
}
