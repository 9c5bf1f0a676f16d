import * as fc from 'fast-check'
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
import type { Fault, FaultEffect } from '../../../src/emulator/faults.ts'
import type { ListName, Mutation } from '../model/schedule.ts'

/** What one scenario is about: a list that changes, or one of those that do not. */
export type Group = ListName | 'old' | 'managers'

/** One of the table below, and what chooses its kind, place and number. */
export interface Trouble {
  readonly name: TroubleName
  readonly pick: number
  readonly at: number
}

/** What a trouble may touch. */
export interface Scene {
  readonly group: Group
  readonly list: string
  readonly channelIds: readonly string[]
  /** Changes the list, if it is one that changes. */
  readonly change: (mutation: Mutation) => void
  /** Before the call of this number arrives, or its answer leaves. */
  readonly whenCalled: (number: number, act: () => void | Promise<void>) => void
  readonly moveClocks: (by: { readonly serviceMs?: number; readonly ownMs?: number }) => void
  readonly dateAnswersAheadBy: (ms: number, frontPageAgeMs?: number) => void
  /** The leases of this run expire, another run comes and goes, and this one goes on. */
  readonly loseLeases: () => Promise<void>
}

interface Kind {
  /** Where it can happen; everywhere when not given. */
  readonly groups?: readonly Group[]
  readonly weight?: number
  /** What the service says of its rows is not what it holds; nothing can tell. */
  readonly lies?: true
  readonly isHarmless?: true
  readonly befall: (trouble: Trouble, scene: Scene) => readonly Fault[]
}

const HOUR_MS = 3_600_000
const passing = [status(503), html(502), cutBody(), connectionReset(), refusal(429001), status(408), html(200)]
const refusals = [status(404), status(400), status(403), refusal(400009), errorsObject(400009), errorsObject(404000)]
const timed = ['gifts', 'signups'] as const
const renamed = { gifts: 'phone', records: 'phone', visitors: 'nick' } as const
/** The column that a renamed field fills, by the table's name. */
export const renamedColumn: Partial<Record<Group, string>> = { gifts: 'phone', records: 'phone', visitors: 'nickname' }

export const troubles = {
  passes: {
    isHarmless: true,
    // Of the ten calls of a day only one attempt is repeated.
    befall: ({ pick, at }, { list, group }) => {
      const times = group === 'old' ? 1 : 1 + (at % 2)
      return [{ effect: passing[pick % passing.length] ?? html(500), endpoint: list, times }]
    },
  },
  'is busy with tokens': {
    isHarmless: true,
    befall: ({ pick }) => [{ effect: errcode(5000, 'system busy'), endpoint: 'token', times: 1 + (pick % 2) }],
  },
  'refuses pages': {
    weight: 2,
    befall: ({ pick, at }, { list, group }) => {
      const page = group === 'old' ? at % 4 : 1 + (at % 4)
      const effect = beyondPage(page, refusals[pick % refusals.length] ?? status(404))
      return [{ effect, endpoint: list, ...(pick % 2 && { times: 40 }) }]
    },
  },
  'has no status': {
    groups: ['old'],
    befall: ({ at }) => [{ effect: beyondPage(at % 4, jsonBody({ status: 'n', msg: 'no' })), endpoint: 'userRecords' }],
  },
  'sends nothing': { groups: ['gifts'], lies: true, befall: (_, { list }) => [{ effect: noRows(), endpoint: list }] },
  'sends half': {
    groups: ['gifts'],
    lies: true,
    befall: ({ pick }, { list }) => [
      { effect: withheldRows((item) => (JSON.stringify(item).length + pick) % 2 === 0), endpoint: list },
    ],
  },
  'skips a row': {
    groups: ['records', 'visitors', 'signups'],
    befall: ({ pick, at }, { list }) => [{ effect: missingRow(pick % 3), endpoint: list, page: 1 + (at % 3) }],
  },
  'repeats a page': {
    groups: ['records', 'visitors', 'signups'],
    befall: ({ at }, { list }) => [{ effect: repeatedPage(), endpoint: list, page: 2 + (at % 2), times: 1 + (at % 3) }],
  },
  'is live': {
    groups: ['gifts', 'signups', 'records', 'visitors'],
    befall: ({ pick }, { list, change }) => [
      { effect: meanwhile(() => change({ op: 'add', pick, age: pick % 2 ? 0 : pick })), endpoint: list, times: 40 },
    ],
  },
  'has one late row': {
    groups: ['gifts', 'signups', 'records', 'visitors'],
    befall: ({ pick, at }, { change, whenCalled }) => {
      const op = (['add', 'change', 'remove', 'jump'] as const)[pick % 4] ?? 'add'
      whenCalled(1 + (at % 12), () => change({ op, pick, age: 60 + pick * 13 }))
      return []
    },
  },
  'renames a field': {
    groups: ['gifts', 'records', 'visitors'],
    lies: true,
    befall: (_, { list, group }) => {
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
    befall: (_, { list }) => [
      { effect: changedRows((item) => withTime(item, (time) => time.slice(0, 16))), endpoint: list },
    ],
  },
  'has unreadable values': {
    groups: timed,
    lies: true,
    befall: ({ pick, at }, { list }) => {
      const isMeant = (time: string) => Number(time.slice(14, 16)) % 4 === pick % 4
      const noMoney = (item: unknown) => ('money' in Object(item) ? { ...Object(item), money: 'much' } : item)
      const noTime = (item: unknown) => withTime(item, (time) => (isMeant(time) ? 'soon' : time))
      return [{ effect: changedRows(at % 2 ? noTime : noMoney), endpoint: list }]
    },
  },
  'does not know a channel': {
    groups: ['gifts', 'signups', 'records', 'visitors'],
    weight: 2,
    befall: ({ pick }, { channelIds }) => {
      const effect = refusal(404002, 'No such activity')
      return [pick % 3 === 0 ? { effect, channelId: channelIds[pick % channelIds.length] ?? '' } : { effect }]
    },
  },
  'has another time than we': {
    weight: 2,
    isHarmless: true,
    befall: ({ pick, at }, { moveClocks, whenCalled, dateAnswersAheadBy }) => {
      if (at % 4 === 1) dateAnswersAheadBy(0, 240 * HOUR_MS)
      const ownMs = ([96, 25, -25, 0.3, -30][pick % 5] ?? 1) * HOUR_MS
      if (at % 3 === 0) whenCalled(1 + (at % 7), () => moveClocks({ ownMs }))
      else moveClocks({ ownMs })
      return []
    },
  },
  'puts its clock on': {
    befall: ({ pick, at }, { moveClocks, whenCalled }) => {
      const serviceMs = ([0.25, 3, -0.25, -3][pick % 4] ?? 1) * HOUR_MS
      if (at % 2) whenCalled(1 + (at % 7), () => moveClocks({ serviceMs }))
      else moveClocks({ serviceMs })
      return []
    },
  },
  'dates its answers wrongly': {
    befall: ({ pick, at }, { dateAnswersAheadBy, whenCalled }) => {
      whenCalled(at % 3 ? 1 : 1 + (at % 12), () => dateAnswersAheadBy(([96, 25, 720, -25][pick % 4] ?? 1) * HOUR_MS))
      return []
    },
  },
  'sees another run take over': {
    groups: ['gifts', 'signups', 'records', 'visitors'],
    weight: 2,
    befall: ({ at }, { whenCalled, loseLeases }) => {
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

/** Each that can happen there, as often as its weight says. */
export function troublesOf(group: Group): readonly fc.WeightedArbitrary<Trouble>[] {
  return Object.keys(troubles)
    .filter(isName)
    .flatMap((name) => {
      const { groups, weight = 1 }: Kind = troubles[name]
      if (groups && !groups.includes(group)) return []
      return [{ weight, arbitrary: fc.record({ name: fc.constant(name), pick: fc.nat(99), at: fc.nat(99) }) }]
    })
}

/** Every page after this one, whatever size it is asked for in, meets the effect. */
export function beyondPage(page: number, effect: FaultEffect): FaultEffect {
  return whereAsked((asked) => asked.page > page, effect)
}

/** Where the time of a row stands: under a name, or in its last cell. */
export function withTime(item: unknown, change: (time: string) => string): unknown {
  if (Array.isArray(item)) return [...item.slice(0, -1), change(String(item.at(-1)))]
  const { uptime } = Object(item)
  return typeof uptime === 'string' ? { ...Object(item), uptime: change(uptime) } : item
}
