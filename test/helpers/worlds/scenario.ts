import * as fc from 'fast-check'
import type { Switches } from '../../../src/emulator/switches.ts'
import { mutations, pauses, switches, type ValueOf } from '../model/schedule.ts'
import { type Group, troublesOf } from './troubles.ts'

export type Scenario = ValueOf<typeof scenarios>
export type Step = ValueOf<ReturnType<typeof stepsOf>>

const ALL_CHANNELS = 7

function stepsOf(group: Group) {
  const sync = fc.record({
    kind: fc.constant('sync'),
    troubles: fc.array(fc.oneof(...troublesOf(group)), { minLength: group === 'old' ? 1 : 0, maxLength: 2 }),
    /** One bit for each configured channel. */
    mask: fc.oneof({ weight: 5, arbitrary: fc.constant(ALL_CHANNELS) }, fc.integer({ min: 1, max: ALL_CHANNELS })),
    isShortHistory: fc.nat(9).map((n) => n === 9),
    /** Runs the job that reads late changes, if there are any. */
    isJob: fc.boolean(),
    /** How many runs follow each other directly. */
    runs: fc.constantFrom(1, 1, 1, 3),
  })
  const change = fc.record({
    kind: fc.constant('change'),
    channel: fc.constantFrom(0, 0, 0, 1, 2),
    mutation: mutations('add', 'twin', 'change', 'jump', 'remove', 'remove'),
  })
  /** Some syncs, each `days` after the one before, with a change of the list before each. */
  const nights = fc.record({
    kind: fc.constant('nights'),
    nights: fc.integer({ min: 1, max: 4 }),
    days: fc.constantFrom(1, 1, 3),
    op: fc.constantFrom('add', 'change', 'remove'),
  })
  /** A change behind the lookback of a sync, and some syncs. A job with this lookback, in days, reads the change. */
  const late = fc.record({
    kind: fc.constant('late'),
    lookback: fc.constantFrom(5, 5, 30),
    mutation: mutations('add', 'change'),
    nights: fc.constantFrom(0, 0, 4),
  })
  /** `loses`: if above 0, the warehouse loses a row first. */
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

/** Ages in minutes, with seconds: few rows, enough rows to check for vanished fields, or no rows of the last day. */
const ages = fc
  .oneof(
    fc.array(fc.oneof(fc.nat(1400), fc.nat(8000)), { maxLength: 30 }),
    { weight: 2, arbitrary: fc.array(fc.nat(4000), { minLength: 25, maxLength: 40 }) },
    fc.array(fc.integer({ min: 1600, max: 8000 }), { minLength: 1, maxLength: 10 }),
  )
  .map((minutes) => minutes.map((minute, place) => minute + ((place * 7) % 60) / 60))

const groups = ['gifts', 'gifts', 'gifts', 'signups', 'signups', 'records', 'visitors', 'old', 'managers'] as const

/** Undefined, or one of these values. */
const perhaps = <Value>(value: fc.Arbitrary<Value>, isHere = true) =>
  isHere ? fc.option(value, { nil: undefined, freq: 4 }) : fc.constant(undefined)

/** Random scenarios of everything that may go wrong. */
export const scenarios = fc.constantFrom(...groups).chain((group) =>
  fc
    .record({
      group: fc.constant(group),
      /** The ages of the rows of each list, in minutes before the start. */
      ages,
      /** How many equal rows there are in one second, and how old they are. */
      equal: fc.record({
        count: perhaps(fc.oneof(fc.nat(25), fc.nat(230))).map((count) => count ?? 0),
        age: fc.nat(3000),
      }),
      /** The number of old records, in the group `old`. */
      oldRecords: fc.integer({ min: 20, max: 170 }),
      /** The largest page that the service serves. */
      clamp: perhaps(fc.integer({ min: 3, max: 9 })),
      /** The last page that the service does not refuse. */
      depth: perhaps(fc.integer({ min: 2, max: 4 }), group === 'gifts'),
      /** The longest range that the service serves, in days. */
      longestRange: perhaps(fc.constantFrom(1, 3, 5), group !== 'old'),
      /**
       * The largest total that the service reports, even if it has more rows. Not for signups: there may be one in the
       * same minute for each call, and if a minute has more than the cap, nothing can prove them.
       */
      cap: perhaps(fc.integer({ min: 3, max: 30 }), group !== 'signups'),
      /** The service hides some rows after it has cut its pages. */
      hides: perhaps(fc.boolean(), group === 'gifts' || group === 'old').map((hides) => hides ?? false),
      /** Uses an app id and secret instead of a fixed token. */
      fetchesTokens: fc.boolean(),
      switches: switches.map((each) => switchesOf(group, each)),
      ties: fc.constantFrom('kept', 'by-page'),
      steps: fc.array(stepsOf(group), { minLength: 1, maxLength: 6 }),
    })
    // With small pages and another order on each, all rows of a page may have come before.
    .map(({ ties, ...scenario }) =>
      scenario.clamp === undefined ? { ...scenario, switches: { ...scenario.switches, ties } } : scenario,
    )
    // A page whose rows are all hidden is empty, and an empty page ends the list.
    .map((scenario) =>
      scenario.hides && scenario.clamp !== undefined ? { ...scenario, clamp: 7 + (scenario.clamp % 3) } : scenario,
    ),
)

/** Lists without a total need an empty page to show their end. */
function switchesOf(group: Group, chosen: Switches): Switches {
  return group === 'gifts' || group === 'old' ? { ...chosen, beyondLastPage: 'empty' } : chosen
}
