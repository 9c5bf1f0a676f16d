import * as fc from 'fast-check'
import type { Switches } from '../../../src/emulator/switches.ts'
import { type Mutation, mutations, pauses, switches } from '../model/schedule.ts'
import { type Group, isName, type Trouble, type TroubleName, troublesOf } from './troubles.ts'

export type Step =
  | { readonly kind: 'change'; readonly channel: number; readonly mutation: Mutation }
  | { readonly kind: 'headers'; readonly pick: number }
  | { readonly kind: 'advance'; readonly minutes: number }
  /** So many syncs, each so many days after the one before, and a change of the list before each. */
  | { readonly kind: 'nights'; readonly nights: number; readonly days: number; readonly op: Mutation['op'] }
  /** A change of what has been read, older than the lookback of a sync, and some syncs. A job with this lookback in days reads it. */
  | { readonly kind: 'late'; readonly lookback: number; readonly mutation: Mutation; readonly nights: number }
  /**
   * `mask`: a bit for each channel that is configured. `isJob`: by a job that reads what has changed late, if anything has.
   * `runs`: one directly after the other.
   */
  | {
      readonly kind: 'sync'
      readonly troubles: readonly Trouble[]
      readonly mask: number
      readonly isShortHistory: boolean
      readonly isJob: boolean
      readonly runs: number
    }
  /** `loses`: rows of the warehouse that are lost before it. */
  | { readonly kind: 'audit'; readonly loses: number }

export interface Scenario {
  readonly group: Group
  /** Of each list, minutes before the start. */
  readonly ages: readonly number[]
  /** So many equal rows of one second, so old. */
  readonly equal: { readonly count: number; readonly age: number }
  /** Records of years ago, in the group of these. */
  readonly oldRecords: number
  /** The service serves no larger pages. */
  readonly clamp: number | undefined
  /** The service refuses pages beyond this one. */
  readonly depth: number | undefined
  /** The service serves no longer ranges, in days. */
  readonly longestRange: number | undefined
  /** No total is larger, though there may be more rows. */
  readonly cap: number | undefined
  /** The service hides some rows after it has cut its pages. */
  readonly hides: boolean
  /** By app id and secret, in place of a fixed token. */
  readonly fetchesTokens: boolean
  readonly switches: Switches
  readonly steps: readonly Step[]
}

/** What scenarios are about: troubles of runs, and what the world is like or what happens to it between them. */
export type Matter = TroubleName | (typeof others)[number]

const others = [
  'clamps',
  'limits ranges',
  'caps totals',
  'has a depth',
  'hides',
  'has equal rows',
  'headers',
  'late',
  'audit',
] as const

export interface Focus {
  /** All when not given. */
  readonly groups?: readonly Group[] | undefined
  /** Nothing else goes wrong; anything may when not given. */
  readonly matters?: readonly Matter[] | undefined
}

const ALL_CHANNELS = 7
/** Of what scenarios are meant to be about. */
const MEANT_WEIGHT = 5

function stepsOf(group: Group, matters: Focus['matters']): fc.Arbitrary<Step> {
  const troubles = troublesOf(group, matters)
  const sync = fc.record({
    kind: fc.constant('sync'),
    troubles:
      troubles.length === 0
        ? fc.constant([])
        : fc.array(fc.oneof(...troubles), { minLength: group === 'old' && !matters ? 1 : 0, maxLength: 2 }),
    mask: fc.oneof({ weight: 5, arbitrary: fc.constant(ALL_CHANNELS) }, fc.integer({ min: 1, max: ALL_CHANNELS })),
    isShortHistory: fc.nat(9).map((n) => n === 9),
    isJob: fc.boolean(),
    runs: fc.constantFrom(1, 1, 1, 3),
  })
  const change = fc.record({
    kind: fc.constant('change'),
    channel: fc.constantFrom(0, 0, 0, 1, 2),
    mutation: mutations('add', 'twin', 'change', 'jump', 'remove', 'remove'),
  })
  const nights = fc.record({
    kind: fc.constant('nights'),
    nights: fc.integer({ min: 1, max: 4 }),
    days: fc.constantFrom(1, 1, 3),
    op: fc.constantFrom('add', 'change', 'remove'),
  })
  const late = fc.record({
    kind: fc.constant('late'),
    lookback: fc.constantFrom(5, 5, 30),
    mutation: mutations('add', 'change'),
    nights: fc.constantFrom(0, 0, 4),
  })
  const audit = fc.record({ kind: fc.constant('audit'), loses: fc.nat(2) })
  const headers = fc.record({ kind: fc.constant('headers'), pick: fc.nat(9) })
  const isLate = group === 'gifts' || group === 'signups' || group === 'records'
  const rare: readonly (fc.WeightedArbitrary<Step> & { readonly matter: Matter; readonly isHere: boolean })[] = [
    { matter: 'audit', weight: 1, arbitrary: audit, isHere: group !== 'old' },
    { matter: 'headers', weight: 2, arbitrary: headers, isHere: group === 'signups' },
    { matter: 'late', weight: 1, arbitrary: late, isHere: isLate },
  ]
  return fc.oneof(
    { weight: 3, arbitrary: change },
    { weight: 2, arbitrary: nights },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('advance'), minutes: pauses }) },
    { weight: matters ? 8 : 5, arbitrary: sync },
    ...rare
      .filter(({ matter, isHere }) => isHere && (matters?.includes(matter) ?? true))
      .map(({ weight, arbitrary }) => ({ weight: matters ? MEANT_WEIGHT : weight, arbitrary })),
  )
}

/** Minutes, with seconds of their own: few, more than are judged by their fields, or none of the last day. */
const ages = fc
  .oneof(
    fc.array(fc.oneof(fc.nat(1400), fc.nat(8000)), { maxLength: 30 }),
    { weight: 2, arbitrary: fc.array(fc.nat(4000), { minLength: 25, maxLength: 40 }) },
    fc.array(fc.integer({ min: 1600, max: 8000 }), { minLength: 1, maxLength: 10 }),
  )
  .map((minutes) => minutes.map((minute, place) => minute + ((place * 7) % 60) / 60))

const everyGroup = ['gifts', 'gifts', 'gifts', 'signups', 'signups', 'records', 'visitors', 'old', 'managers'] as const

/** Random scenarios: whatever may go wrong, or what they are asked to be about. */
export function scenariosOf({ groups = everyGroup, matters }: Focus): fc.Arbitrary<Scenario> {
  /** Undefined or the first value where it is not what it is about; one of all where it may be. */
  const perhaps = <Value>(matter: Matter, value: fc.Arbitrary<Value>, isHere = true) => {
    if (!isHere || (matters && !matters.includes(matter))) return fc.constant(undefined)
    return matters ? value : fc.option(value, { nil: undefined, freq: 4 })
  }
  return fc.constantFrom(...groups).chain((group) =>
    fc
      .record({
        group: fc.constant(group),
        ages,
        equal: fc.record({
          count: perhaps('has equal rows', fc.oneof(fc.nat(25), fc.nat(230))).map((count) => count ?? 0),
          age: fc.nat(3000),
        }),
        oldRecords: fc.integer({ min: 20, max: 170 }),
        clamp: perhaps('clamps', fc.integer({ min: 3, max: 9 })),
        depth: perhaps('has a depth', fc.integer({ min: 2, max: 4 }), group === 'gifts'),
        longestRange: perhaps('limits ranges', fc.constantFrom(1, 3, 5), group !== 'old'),
        // Of signups, which nothing proves where a minute has more, there are as many in one minute as calls are made.
        cap: perhaps('caps totals', fc.integer({ min: 3, max: 30 }), group !== 'signups'),
        hides: perhaps('hides', fc.boolean(), group === 'gifts' || group === 'old').map((hides) => hides ?? false),
        fetchesTokens: matters?.includes('is busy with tokens') ? fc.constant(true) : fc.boolean(),
        switches: switches.map((each) => switchesOf(group, each)),
        ties: fc.constantFrom('kept', 'by-page'),
        steps: fc.array(stepsOf(group, matters), { minLength: 1, maxLength: 6 }),
      })
      // Of pages of a few rows, all can be rows that came before.
      .map(({ ties, ...scenario }) =>
        scenario.clamp === undefined ? { ...scenario, switches: { ...scenario.switches, ties } } : scenario,
      )
      // A page of which every row is hidden is empty, and an empty page is the end.
      .map((scenario) =>
        scenario.hides && scenario.clamp !== undefined ? { ...scenario, clamp: 7 + (scenario.clamp % 3) } : scenario,
      ),
  )
}

/** Of what some switches leave out, nothing can tell. */
function switchesOf(group: Group, chosen: Switches): Switches {
  return group === 'gifts' || group === 'old' ? { ...chosen, beyondLastPage: 'empty' } : chosen
}

function isMatter(name: string): name is Matter {
  return isName(name) || others.some((each) => each === name)
}

/** @param text `GROUPS: MATTERS`, each separated by commas; everything when not given, the matters also when there is no colon */
export function readFocus(text = ''): Focus {
  const [groups = [], matters] = text.split(':').map((part) => part.split(',').map((name) => name.trim()))
  const isGroup = (name: string): name is Group => everyGroup.some((each) => each === name)
  const chosen = groups.filter(isGroup)
  return { groups: chosen.length > 0 ? chosen : undefined, matters: matters?.filter(isMatter) }
}
