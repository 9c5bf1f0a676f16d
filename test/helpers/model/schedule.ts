import * as fc from 'fast-check'
import { defaultSwitches, type Switches } from '../../../src/emulator/switches.ts'

/** The lists of the world that change. */
export type ListName = 'visitors' | 'records' | 'gifts' | 'signups'

/** A change of a list. `pick` and `age` choose the row and the minutes by which a new one lies in the past. */
export interface Mutation {
  readonly op: 'add' | 'twin' | 'change' | 'jump' | 'remove'
  readonly pick: number
  readonly age: number
}

/** What an arbitrary makes. */
export type Made<Of> = Of extends fc.Arbitrary<infer Value> ? Value : never
export type Trouble = Made<typeof trouble>
export type Schedule = Made<typeof schedules>

/** What services do differently. */
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

/** Minutes at which a history of nine days is cut in parts, and where the lookback ends. */
const edges = [6480, 4320, 8640, 3240, 9720, 2592, 1440, 2160].map((minutes) => minutes - 1)

/** A change of one of these kinds. */
export function mutations(...ops: readonly Mutation['op'][]): fc.Arbitrary<Mutation> {
  return fc.record({ op: fc.constantFrom(...ops), pick: fc.nat(99), age: fc.nat(10_000) })
}

/** The minutes by which the clock goes on between two steps. */
export const pauses = fc.constantFrom(1, 7, 61, 600, 1500, 3000)

const mutation = mutations('add', 'twin', 'change', 'jump', 'jump', 'remove')
const at = fc.integer({ min: 1, max: 14 })
/** What befalls a run; `at` counts calls, or statements of the database for a kill. */
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
    // Of more than ten rows a page, every other reading of a list without a total has other pages.
    pageSize: fc.oneof({ weight: 4, arbitrary: fc.integer({ min: 2, max: 6 }) }, fc.constantFrom(11, 12)),
    // Small pages count for less, and lists with a total may be longer: below one, those are cut too.
    pagesPerSlice: fc.constantFrom(0.25, 0.5, 1, 2, 4, 8),
    /** The service serves no larger pages; undefined where it serves what it is asked for. */
    clamp: fc.option(fc.integer({ min: 2, max: 5 }), { nil: undefined }),
    switches,
    /** Of each list, minutes before the start. */
    ages: fc.array(fc.oneof(fc.nat(8000), fc.constantFrom(...edges)), { maxLength: 24 }),
    steps: fc.array(step, { minLength: 1, maxLength: 7 }),
  })
  // Where no empty page ends a list without a total, there may be no page smaller than two or three rows that tells its end.
  .map((each) =>
    each.list === 'gifts' && each.switches.beyondLastPage !== 'empty'
      ? { ...each, clamp: undefined, pageSize: each.pageSize + 2 }
      : each,
  )
