import { hasCode } from '../core/errors.ts'
import { describeError, type RunOutcome, type RunProblem, type StreamOutcome } from '../core/outcome.ts'
import { addCounts, type Counts, isGreen, noCounts, noSlices, type Proof, placeOf, proofs } from '../core/slice.ts'
import type { Stream } from '../core/stream.ts'
import type { WaitingSlice } from './run-budgeted-slice.ts'
import type { EndedSlice, Slice } from './slice-work.ts'

/** The result of a run, before it is recorded. */
export type RunResult = Pick<RunOutcome, 'status' | 'streams' | 'errors' | 'resumesAt'>

/** The results of a run's slices so far, added up. */
export type Tally = ReturnType<typeof createTally>

/** Starts a tally with an entry for each stream of the run. */
export function createTally(planned: readonly Stream[]) {
  const streams: Record<string, StreamOutcome> = Object.fromEntries(
    planned.map(({ name }) => [name, { counts: noCounts, slices: noSlices }]),
  )
  const problems = new Map<unknown, RunProblem>()
  let left = 0
  let resumesAt: string | null = null

  const addTo = (name: string, counts: Partial<Counts>, ended: Partial<StreamOutcome['slices']>): void => {
    const before = streams[name] ?? { counts: noCounts, slices: noSlices }
    const slices = { ...before.slices }
    for (const proof of proofs) slices[proof] += ended[proof] ?? 0
    streams[name] = { counts: addCounts(before.counts, counts), slices }
  }

  const countEnded = (which: readonly Proof[]): number =>
    Object.values(streams).reduce((sum, { slices }) => which.reduce((all, proof) => all + slices[proof], sum), 0)
  return {
    /** Adds the counts of a slice that was cut, or lost to another run. It does not count as a slice. */
    addCut: ({ stream }: Slice, counts: Partial<Counts>): void => addTo(stream.name, counts, {}),
    /** Adds a slice that did not begin because the run ended early. */
    addNotBegun: ({ stream }: Slice): void => addTo(stream.name, noCounts, { failed: 1 }),
    /** Adds a slice that is left to the next run because this one must stop, or the day's calls are spent. */
    addLeft: (): void => {
      left++
    },
    /** Adds a slice of which a part is left for another day. */
    addWaiting: ({ stream }: Slice, waiting: WaitingSlice): void => {
      addTo(stream.name, waiting.counts, {})
      left++
      if (resumesAt === null || waiting.resumesAt < resumesAt) resumesAt = waiting.resumesAt
    },
    /** Adds a slice. @param isEnding whether the run ends early; its reason is then reported once, not per slice */
    add: (slice: Slice, { proof, otherProofs = [], counts, error }: EndedSlice, isEnding: boolean): void => {
      addTo(slice.stream.name, counts, { [proof]: 1 })
      for (const other of otherProofs) addTo(slice.stream.name, noCounts, { [other]: 1 })
      if (error === undefined) return
      const problem = { ...placeOf(slice), ...describeError(error) }
      const key = isEnding ? problem.code : slice
      if (!problems.has(key)) problems.set(key, problem)
    },
    /** Adds the result of another process, or of another part of the run. */
    addResult: ({ status, streams: others, errors, resumesAt: at }: RunResult): void => {
      for (const [name, { counts, slices }] of Object.entries(others)) addTo(name, counts, slices)
      // All of them report an interruption, which is recorded once.
      for (const error of errors) problems.set(error.code === 'run.interrupted' ? error.code : error, error)
      if (status === 'waiting') left++
      if (at !== null && (resumesAt === null || at < resumesAt)) resumesAt = at
    },
    /** Returns the result. @param stopped why the run ended early; undefined if it did not */
    result: (stopped: unknown): RunResult => {
      const unfinished = countEnded(proofs.filter((proof) => !isGreen(proof)))
      const isInterrupted = hasCode(stopped, 'run.interrupted')
      if (isInterrupted || (stopped !== undefined && problems.size === 0)) {
        const { code, message: reason } = describeError(stopped)
        const message = `${reason}: ${unfinished} slices were not finished; the next run goes on from there`
        problems.set(code, { stream: null, partition: null, code, message })
      }
      const isFailed = stopped !== undefined && !isInterrupted && countEnded(proofs.filter(isGreen)) === 0
      const isWhole = unfinished === 0 && stopped === undefined
      const status = isFailed ? 'failed' : !isWhole ? 'partial' : left > 0 ? 'waiting' : 'ok'
      return { status, streams, errors: [...problems.values()], resumesAt }
    },
  }
}
