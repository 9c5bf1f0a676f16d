import * as fc from 'fast-check'
import type { Switches } from '../../../src/emulator/switches.ts'
import { type Made, mutations, pauses, switches } from '../model/schedule.ts'
import { type Group, troublesOf } from './troubles.ts'

export type Scenario = Made<typeof scenarios>
export type Step = Made<ReturnType<typeof stepsOf>>

const ALL_CHANNELS = 7

function stepsOf(group: Group) {
  const sync = fc.record({
    kind: fc.constant('sync'),
    troubles: fc.array(fc.oneof(...troublesOf(group)), { minLength: group === 'old' ? 1 : 0, maxLength: 2 }),
    /** A bit for each channel that is configured. */
    mask: fc.oneof({ weight: 5, arbitrary: fc.constant(ALL_CHANNELS) }, fc.integer({ min: 1, max: ALL_CHANNELS })),
    isShortHistory: fc.nat(9).map((n) => n === 9),
    /** By a job that reads what has changed late, if anything has. */
    isJob: fc.boolean(),
    /** One directly after the other. */
    runs: fc.constantFrom(1, 1, 1, 3),
  })
  const change = fc.record({
    kind: fc.constant('change'),
    channel: fc.constantFrom(0, 0, 0, 1, 2),
    mutation: mutations('add', 'twin', 'change', 'jump', 'remove', 'remove'),
  })
  /** So many syncs, each so many days after the one before, and a change of the list before each. */
  const nights = fc.record({
    kind: fc.constant('nights'),
    nights: fc.integer({ min: 1, max: 4 }),
    days: fc.constantFrom(1, 1, 3),
    op: fc.constantFrom('add', 'change', 'remove'),
  })
  /** A change of what has been read, older than the lookback of a sync, and some syncs. A job with this lookback in days reads it. */
  const late = fc.record({
    kind: fc.constant('late'),
    lookback: fc.constantFrom(5, 5, 30),
    mutation: mutations('add', 'change'),
    nights: fc.constantFrom(0, 0, 4),
  })
  /** `loses`: rows of the warehouse that are lost before it. */
  const audit = fc.record({ kind: fc.constant('audit'), loses: fc.nat(2) })
  const headers = fc.record({ kind: fc.constant('headers'), pick: fc.nat(9) })
  const inGroups = <Value>(those: readonly Group[], weight: number, arbitrary: fc.Arbitrary<Value>) =>
    those.includes(group) ? [{ weight, arbitrary }] : []
  return fc.oneof(
    { weight: 3, arbitrary: change },
    { weight: 2, arbitrary: nights },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('advance'), minutes: pauses }) },
    { weight: 5, arbitrary: sync },
    ...inGroups(['gifts', 'signups', 'records', 'visitors', 'managers'], 1, audit),
    ...inGroups(['signups'], 2, headers),
    ...inGroups(['gifts', 'signups', 'records'], 1, late),
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

const groups = ['gifts', 'gifts', 'gifts', 'signups', 'signups', 'records', 'visitors', 'old', 'managers'] as const

/** Undefined, or one of them. */
const perhaps = <Value>(value: fc.Arbitrary<Value>, isHere = true) =>
  isHere ? fc.option(value, { nil: undefined, freq: 4 }) : fc.constant(undefined)

/** Random scenarios: whatever may go wrong. */
export const scenarios = fc.constantFrom(...groups).chain((group) =>
  fc
    .record({
      group: fc.constant(group),
      /** Of each list, minutes before the start. */
      ages,
      /** So many equal rows of one second, so old. */
      equal: fc.record({
        count: perhaps(fc.oneof(fc.nat(25), fc.nat(230))).map((count) => count ?? 0),
        age: fc.nat(3000),
      }),
      /** Records of years ago, in the group of these. */
      oldRecords: fc.integer({ min: 20, max: 170 }),
      /** The service serves no larger pages. */
      clamp: perhaps(fc.integer({ min: 3, max: 9 })),
      /** The service refuses pages beyond this one. */
      depth: perhaps(fc.integer({ min: 2, max: 4 }), group === 'gifts'),
      /** The service serves no longer ranges, in days. */
      longestRange: perhaps(fc.constantFrom(1, 3, 5), group !== 'old'),
      /**
       * No total is larger, though there may be more rows. Of signups, which nothing proves where a minute has more, there
       * are as many in one minute as calls are made.
       */
      cap: perhaps(fc.integer({ min: 3, max: 30 }), group !== 'signups'),
      /** The service hides some rows after it has cut its pages. */
      hides: perhaps(fc.boolean(), group === 'gifts' || group === 'old').map((hides) => hides ?? false),
      /** By app id and secret, in place of a fixed token. */
      fetchesTokens: fc.boolean(),
      switches: switches.map((each) => switchesOf(group, each)),
      ties: fc.constantFrom('kept', 'by-page'),
      steps: fc.array(stepsOf(group), { minLength: 1, maxLength: 6 }),
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

/** Of what some switches leave out, nothing can tell. */
function switchesOf(group: Group, chosen: Switches): Switches {
  return group === 'gifts' || group === 'old' ? { ...chosen, beyondLastPage: 'empty' } : chosen
}
