import * as fc from 'fast-check'
import { defaultSwitches, type Switches } from '../../../src/emulator/switches.ts'

/** The lists of the world that change. */
export type ListName = 'visitors' | 'records' | 'gifts' | 'signups'

/** A change of a list. `pick` chooses the row; `age` is how many minutes in the past a new one is. */
export interface Mutation {
  readonly op: 'add' | 'twin' | 'change' | 'jump' | 'remove'
  readonly pick: number
  readonly age: number
}

/** The values that an arbitrary generates. */
export type ValueOf<Of> = Of extends fc.Arbitrary<infer Value> ? Value : never
export type Trouble = ValueOf<typeof trouble>
export type Schedule = ValueOf<typeof schedules>

/** What services may do differently. */
export const switches: fc.Arbitrary<Switches> = fc
  .record({
    filterEnds: fc.constantFrom('inclusive', 'exclusive', 'half-open'),
    recordFilterTime: fc.constantFrom('entry', 'leave', 'both'),
    rowOrder: fc.constantFrom('time-asc', 'time-desc', 'id-asc', 'id-desc', 'shuffled'),
    visitorOrder: fc.oneof(
      { weight: 3, arbitrary: fc.constant('last-online') },
      { weight: 4, arbitrary: fc.constantFrom('first-login', 'watch-time', 'user-id', 'shuffled') },
    ),
    beyondLastPage: fc.constantFrom('empty', 'repeat-first', 'repeat-last', 'error'),
    emptyLists: fc.constantFrom('array', 'null', 'missing'),
  })
  .map((chosen) => ({ ...defaultSwitches, ...chosen }))

/** The minutes at which a history of nine days is cut into parts, and where the lookback ends. */
const edges = [6480, 4320, 8640, 3240, 9720, 2592, 1440, 2160].map((minutes) => minutes - 1)

/** A change of one of these kinds. */
export function mutations(...ops: readonly Mutation['op'][]): fc.Arbitrary<Mutation> {
  return fc.record({ op: fc.constantFrom(...ops), pick: fc.nat(99), age: fc.nat(10_000) })
}

/** The minutes by which the clock advances between two steps. */
export const pauses = fc.constantFrom(1, 7, 61, 600, 1500, 3000)

const mutation = mutations('add', 'twin', 'change', 'jump', 'jump', 'remove')
const at = fc.integer({ min: 1, max: 14 })
/** What happens to a run; `at` counts calls, or statements of the database for a kill. */
const trouble = fc.oneof(
  fc.record({ kind: fc.constant('none') }),
  fc.record({
    kind: fc.constant('fault'),
    fault: fc.nat(9),
    times: fc.integer({ min: 1, max: 9 }),
    page: fc.nat(3),
  }),
  // The world changes while the run reads it: before the `at`-th call for a page after the first.
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('drift'), at: fc.integer({ min: 1, max: 4 }), mutation }) },
  fc.record({ kind: fc.constant('abort'), at }),
  fc.record({ kind: fc.constant('kill'), at: fc.integer({ min: 1, max: 60 }) }),
  fc.record({ kind: fc.constant('terminate'), at }),
)
const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('mutate'), mutation }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('advance'), minutes: pauses }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('sync'), trouble }) },
)

/** Random schedules of one list. */
export const schedules = fc
  .record({
    list: fc.constantFrom('visitors', 'records', 'gifts', 'signups'),
    // With more than ten rows per page, every other reading of a list without a total has other page boundaries.
    pageSize: fc.oneof({ weight: 4, arbitrary: fc.integer({ min: 2, max: 6 }) }, fc.constantFrom(11, 12)),
    // Small pages count for less, and lists with a total may be longer: values below one cut these too.
    pagesPerSlice: fc.constantFrom(0.25, 0.5, 1, 2, 4, 8),
    /** The largest page that the service serves; undefined for no limit. */
    clamp: fc.option(fc.integer({ min: 2, max: 5 }), { nil: undefined }),
    switches,
    /** The ages of the rows of each list, in minutes before the start. */
    ages: fc.array(fc.oneof(fc.nat(8000), fc.constantFrom(...edges)), { maxLength: 24 }),
    steps: fc.array(step, { minLength: 1, maxLength: 7 }),
  })
  // If no empty page ends a list without a total, pages of two or three rows may be too small to show its end.
  .map((each) =>
    each.list === 'gifts' && each.switches.beyondLastPage !== 'empty'
      ? { ...each, clamp: undefined, pageSize: each.pageSize + 2 }
      : each,
  )
