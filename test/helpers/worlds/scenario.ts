import * as fc from 'fast-check'
import type { Switches } from '../../../src/emulator/switches.ts'
import { type ListName, type Mutation, switches } from '../model/schedule.ts'
import { type Group, type Trouble, troublesOf } from './troubles.ts'

export type Step =
  | { readonly kind: 'change'; readonly channel: number; readonly mutation: Mutation }
  | { readonly kind: 'headers'; readonly pick: number }
  | { readonly kind: 'advance'; readonly minutes: number }
  /** So many syncs, each so many days after the one before, with a new row in between. */
  | { readonly kind: 'nights'; readonly nights: number; readonly days: number }
  /** `mask`: a bit for each channel that is configured. `deep`: changed before it, older than the lookback of a sync. */
  | {
      readonly kind: 'sync'
      readonly troubles: readonly Trouble[]
      readonly mask: number
      readonly isShortHistory: boolean
      readonly deep: { readonly lookback: number; readonly mutation: Mutation } | undefined
    }
  /** `loses`: rows of the warehouse that are lost before it. */
  | { readonly kind: 'audit'; readonly loses: number }

export interface Scenario {
  readonly group: Group
  /** Of each list, minutes before the start. */
  readonly ages: readonly number[]
  /** So many equal rows of one second, so old. */
  readonly equal: { readonly count: number; readonly age: number }
  /** The service serves no larger pages. */
  readonly clamp: number | undefined
  /** The service refuses pages beyond this one. */
  readonly depth: number | undefined
  /** The service hides some rows after it has cut its pages. */
  readonly hides: boolean
  /** By app id and secret, in place of a fixed token. */
  readonly fetchesTokens: boolean
  readonly switches: Switches
  readonly steps: readonly Step[]
}

const ALL_CHANNELS = 7

function stepsOf(group: Group): fc.Arbitrary<Step> {
  const list: ListName = group === 'old' || group === 'managers' ? 'visitors' : group
  const op = fc.constantFrom('add', 'twin', 'change', 'jump', 'remove', 'remove')
  const mutation = (ops: fc.Arbitrary<Mutation['op']>): fc.Arbitrary<Mutation> =>
    fc.record({ op: ops, list: fc.constant(list), pick: fc.nat(99), age: fc.nat(10_000) })
  const rarely = <Value>(arbitrary: fc.Arbitrary<Value>) => fc.option(arbitrary, { nil: undefined, freq: 5 })
  const deep = fc.record({ lookback: fc.constantFrom(5, 30), mutation: mutation(fc.constantFrom('add', 'change')) })
  const sync = fc.record({
    kind: fc.constant('sync' as const),
    troubles: fc.array(fc.oneof(...troublesOf(group)), { minLength: group === 'old' ? 1 : 0, maxLength: 2 }),
    mask: rarely(fc.integer({ min: 1, max: ALL_CHANNELS })).map((mask) => mask ?? ALL_CHANNELS),
    isShortHistory: fc.nat(9).map((n) => n === 9),
    deep: group === 'managers' || group === 'visitors' || group === 'old' ? fc.constant(undefined) : rarely(deep),
  })
  const others: fc.WeightedArbitrary<Step>[] = [
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constant('change' as const),
        channel: fc.constantFrom(0, 0, 0, 1, 2),
        mutation: mutation(op),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant('nights' as const),
        nights: fc.integer({ min: 1, max: 4 }),
        days: fc.constantFrom(1, 1, 3),
      }),
    },
    ...(group === 'old'
      ? []
      : [{ weight: 1, arbitrary: fc.record({ kind: fc.constant('audit' as const), loses: fc.nat(2) }) }]),
    ...(group === 'signups'
      ? [{ weight: 2, arbitrary: fc.record({ kind: fc.constant('headers' as const), pick: fc.nat(9) }) }]
      : []),
  ]
  return fc.oneof(
    ...others,
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant('advance' as const),
        minutes: fc.constantFrom(1, 7, 61, 600, 1500, 3000),
      }),
    },
    { weight: 5, arbitrary: sync },
  )
}

/** Minutes, with seconds of their own. */
const ages = fc
  .array(fc.oneof(fc.nat(1400), fc.nat(8000)), { maxLength: 30 })
  .map((minutes) => minutes.map((minute, place) => minute + ((place * 7) % 60) / 60))

const group = fc.constantFrom<Group[]>(
  'gifts',
  'gifts',
  'gifts',
  'signups',
  'signups',
  'records',
  'visitors',
  'old',
  'managers',
)

export const scenarios: fc.Arbitrary<Scenario> = group.chain((chosen) =>
  fc
    .record({
      group: fc.constant(chosen),
      ages,
      equal: fc.record({ count: fc.oneof(fc.constant(0), fc.nat(25), fc.nat(230)), age: fc.nat(3000) }),
      clamp: fc.option(fc.integer({ min: 3, max: 9 }), { nil: undefined, freq: 3 }),
      depth:
        chosen === 'gifts'
          ? fc.option(fc.integer({ min: 2, max: 4 }), { nil: undefined, freq: 4 })
          : fc.constant(undefined),
      hides: chosen === 'gifts' || chosen === 'old' ? fc.boolean() : fc.constant(false),
      fetchesTokens: fc.boolean(),
      switches: switches.map((each) =>
        chosen === 'gifts' || chosen === 'old' ? { ...each, beyondLastPage: 'empty' as const } : each,
      ),
      steps: fc.array(stepsOf(chosen), { minLength: 1, maxLength: 6 }),
    })
    // A page of which every row is hidden is empty, and an empty page is the end.
    .map((scenario) =>
      scenario.hides && scenario.clamp !== undefined ? { ...scenario, clamp: 7 + (scenario.clamp % 3) } : scenario,
    ),
)
