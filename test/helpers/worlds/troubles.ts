import * as fc from 'fast-check'
import type { Fault, FaultEffect } from '../../../src/emulator/faults.ts'
import {
  changedRows,
  connectionReset,
  cutBody,
  errcode,
  errorsObject,
  html,
  jsonBody,
  meanwhile,
  missingRow,
  noRows,
  refusal,
  repeatedPage,
  status,
  whereAsked,
  withheldRows,
} from '../fault-effects.ts'
import type { ListName, Mutation } from '../model/schedule.ts'

/** What one scenario is about: a list that changes, or one of those that do not. */
export type Group = ListName | 'old' | 'managers'

/** An entry of the table below, and random numbers that choose its details. */
export interface Trouble {
  readonly name: TroubleName
  readonly pick: number
  readonly at: number
}

/** What a trouble can use and change. */
export interface Scene {
  readonly group: Group
  readonly list: string
  readonly channelIds: readonly string[]
  /** Changes the list of the group, if it has one that changes. */
  readonly change: (mutation: Mutation) => void
  /** Acts before the call of this number arrives, or before its answer leaves. */
  readonly whenCalled: (number: number, act: () => void | Promise<void>) => void
  readonly moveClocks: (by: { readonly serviceMs?: number; readonly ownMs?: number }) => void
  readonly dateAnswersAheadBy: (ms: number, frontPageAgeMs?: number) => void
  /** Lets the leases of this run expire, runs another sync, and then lets this run continue. */
  readonly loseLeases: () => Promise<void>
}

interface Kind {
  /** The groups in which it can happen; all if not given. */
  readonly groups?: readonly Group[]
  readonly weight?: number
  /** The service misreports its rows, and nothing shows it. */
  readonly lies?: true
  readonly isHarmless?: true
  readonly start: (trouble: Trouble, scene: Scene) => readonly Fault[]
}

const HOUR_MS = 3_600_000
/** Faults of one answer, after which a call is repeated. */
export const passing = [status(503), html(502), cutBody(), connectionReset(), refusal(429001), status(408), html(200)]
const refusals = [status(404), status(400), status(403), refusal(400009), errorsObject(400009), errorsObject(404000)]
const timed = ['gifts', 'signups'] as const
const renamed = { gifts: 'phone', records: 'phone', visitors: 'nick' } as const
/** The column that the renamed field fills. */
export const renamedColumn: Partial<Record<Group, string>> = { gifts: 'phone', records: 'phone', visitors: 'nickname' }

export const troubles = {
  passes: {
    isHarmless: true,
    // With ten calls a day, a call is repeated only once.
    start: ({ pick, at }, { list, group }) => {
      const times = group === 'old' ? 1 : 1 + (at % 2)
      return [{ effect: passing[pick % passing.length] ?? html(500), endpoint: list, times }]
    },
  },
  'is busy with tokens': {
    isHarmless: true,
    start: ({ pick }) => [{ effect: errcode(5000, 'system busy'), endpoint: 'token', times: 1 + (pick % 2) }],
  },
  'refuses pages': {
    weight: 2,
    start: ({ pick, at }, { list, group }) => {
      const page = group === 'old' ? at % 4 : 1 + (at % 4)
      const effect = beyondPage(page, refusals[pick % refusals.length] ?? status(404))
      return [{ effect, endpoint: list, ...(pick % 2 && { times: 40 }) }]
    },
  },
  'has no status': {
    groups: ['old'],
    start: ({ at }) => [{ effect: beyondPage(at % 4, jsonBody({ status: 'n', msg: 'no' })), endpoint: 'userRecords' }],
  },
  'sends nothing': { groups: ['gifts'], lies: true, start: (_, { list }) => [{ effect: noRows(), endpoint: list }] },
  'sends half': {
    groups: ['gifts'],
    lies: true,
    start: ({ pick }, { list }) => [
      { effect: withheldRows((item) => (JSON.stringify(item).length + pick) % 2 === 0), endpoint: list },
    ],
  },
  'skips a row': {
    groups: ['records', 'visitors', 'signups'],
    start: ({ pick, at }, { list }) => [{ effect: missingRow(pick % 3), endpoint: list, page: 1 + (at % 3) }],
  },
  'repeats a page': {
    groups: ['records', 'visitors', 'signups'],
    start: ({ at }, { list }) => [{ effect: repeatedPage(), endpoint: list, page: 2 + (at % 2), times: 1 + (at % 3) }],
  },
  'is live': {
    groups: ['gifts', 'signups', 'records', 'visitors'],
    start: ({ pick }, { list, change }) => [
      { effect: meanwhile(() => change({ op: 'add', pick, age: pick % 2 ? 0 : pick })), endpoint: list, times: 40 },
    ],
  },
  'has one late row': {
    groups: ['gifts', 'signups', 'records', 'visitors'],
    start: ({ pick, at }, { change, whenCalled }) => {
      const op = (['add', 'change', 'remove', 'jump'] as const)[pick % 4] ?? 'add'
      whenCalled(1 + (at % 12), () => change({ op, pick, age: 60 + pick * 13 }))
      return []
    },
  },
  'renames a field': {
    groups: ['gifts', 'records', 'visitors'],
    lies: true,
    start: (_, { list, group }) => {
      const from = Reflect.get(renamed, group)
      const rename = (item: unknown) => {
        const { [from]: value, ...others } = Object(item)
        return { ...others, renamed: value }
      }
      return [{ effect: changedRows(rename), endpoint: list }]
    },
  },
  'tells times to the minute': {
    groups: timed,
    lies: true,
    start: (_, { list }) => [
      { effect: changedRows((item) => withTime(item, (time) => time.slice(0, 16))), endpoint: list },
    ],
  },
  'has unreadable values': {
    groups: timed,
    lies: true,
    start: ({ pick, at }, { list }) => {
      const isMeant = (time: string) => Number(time.slice(14, 16)) % 4 === pick % 4
      const noMoney = (item: unknown) => ('money' in Object(item) ? { ...Object(item), money: 'much' } : item)
      const noTime = (item: unknown) => withTime(item, (time) => (isMeant(time) ? 'soon' : time))
      return [{ effect: changedRows(at % 2 ? noTime : noMoney), endpoint: list }]
    },
  },
  'does not know a channel': {
    groups: ['gifts', 'signups', 'records', 'visitors'],
    weight: 2,
    start: ({ pick }, { channelIds }) => {
      const effect = refusal(404002, 'No such activity')
      return [pick % 3 === 0 ? { effect, channelId: channelIds[pick % channelIds.length] ?? '' } : { effect }]
    },
  },
  'has another time than we': {
    weight: 2,
    isHarmless: true,
    start: ({ pick, at }, { moveClocks, whenCalled, dateAnswersAheadBy }) => {
      if (at % 4 === 1) dateAnswersAheadBy(0, 240 * HOUR_MS)
      const ownMs = ([96, 25, -25, 0.3, -30][pick % 5] ?? 1) * HOUR_MS
      if (at % 3 === 0) whenCalled(1 + (at % 7), () => moveClocks({ ownMs }))
      else moveClocks({ ownMs })
      return []
    },
  },
  'puts its clock on': {
    start: ({ pick, at }, { moveClocks, whenCalled }) => {
      const serviceMs = ([0.25, 3, -0.25, -3][pick % 4] ?? 1) * HOUR_MS
      if (at % 2) whenCalled(1 + (at % 7), () => moveClocks({ serviceMs }))
      else moveClocks({ serviceMs })
      return []
    },
  },
  'dates its answers wrongly': {
    start: ({ pick, at }, { dateAnswersAheadBy, whenCalled }) => {
      whenCalled(at % 3 ? 1 : 1 + (at % 12), () => dateAnswersAheadBy(([96, 25, 720, -25][pick % 4] ?? 1) * HOUR_MS))
      return []
    },
  },
  'sees another run take over': {
    groups: ['gifts', 'signups', 'records', 'visitors'],
    weight: 2,
    start: ({ at }, { whenCalled, loseLeases }) => {
      whenCalled(1 + (at % 12), loseLeases)
      return []
    },
  },
} as const satisfies Record<string, Kind>

export type TroubleName = keyof typeof troubles

export const kindOf = ({ name }: Trouble): Kind => troubles[name]

function isName(name: string): name is TroubleName {
  return name in troubles
}

/** The troubles that can happen in a group, with their weights. */
export function troublesOf(group: Group): readonly fc.WeightedArbitrary<Trouble>[] {
  return Object.keys(troubles)
    .filter(isName)
    .flatMap((name) => {
      const { groups, weight = 1 }: Kind = troubles[name]
      if (groups && !groups.includes(group)) return []
      return [{ weight, arbitrary: fc.record({ name: fc.constant(name), pick: fc.nat(99), at: fc.nat(99) }) }]
    })
}

/** Applies the effect to every page after this one, whatever its size. */
export function beyondPage(page: number, effect: FaultEffect): FaultEffect {
  return whereAsked((query) => query.page > page, effect)
}

/** Changes the time of a row, which is a field or the last cell. */
export function withTime(item: unknown, change: (time: string) => string): unknown {
  if (Array.isArray(item)) return [...item.slice(0, -1), change(String(item.at(-1)))]
  const { uptime } = Object(item)
  return typeof uptime === 'string' ? { ...Object(item), uptime: change(uptime) } : item
}
