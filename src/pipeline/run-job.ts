import pLimit from 'p-limit'
import { hasCode, LivehouseError, recoveryFrom } from '../core/errors.ts'
import {
  addCounts,
  type Counts,
  noCounts,
  noSlices,
  type RunProblem,
  type RunStatus,
  type StreamOutcome,
} from '../core/outcome.ts'
import { isGreen, partitionKey, type Proof } from '../core/slice.ts'
import type { Stream, StreamName } from '../core/stream.ts'
import { runSlice, type SliceResult } from './run-slice.ts'
import type { RunDeps, Slice } from './slice-work.ts'

/** What a run brought, before it is written down. */
export interface JobResult {
  readonly status: RunStatus
  readonly streams: Readonly<Partial<Record<StreamName, StreamOutcome>>>
  readonly errors: readonly RunProblem[]
}

/** The slices that can be planned with what the phases before it have brought. */
export type Phase = () => Promise<readonly Slice[]>

/**
 * Extracts slices side by side, `concurrency` at a time, phase after phase. One that fails does not stop the others; an error
 * that none could survive (credentials refused, service or database out of reach) and an interruption end the run: what is in
 * flight ends, the rest is not begun.
 */
export async function runJob(
  streams: readonly Stream[],
  phases: readonly Phase[],
  deps: RunDeps,
  concurrency: number,
  onEnd: (slice: Slice, result: SliceResult) => void = () => {},
): Promise<JobResult> {
  const limit = pLimit(concurrency)
  const fatal = new AbortController()
  const signal = AbortSignal.any([deps.signal, fatal.signal])
  const tally = createTally(streams)

  for (const phase of phases) {
    if (signal.aborted) break
    const slices = await phase()
    for (const [stream, count] of countByStream(slices)) deps.report({ kind: 'stream.planned', stream, slices: count })
    await Promise.all(
      slices.map((slice) =>
        limit(async () => {
          if (signal.aborted) return tally.addNotBegun(slice)
          const result = await runSlice(slice, { ...deps, signal })
          if (isFatal(result.error) && !signal.aborted) fatal.abort(result.error)
          onEnd(slice, result)
          return tally.add(slice, result)
        }),
      ),
    )
  }
  return tally.result(signal.reason)
}

/** Nothing that the next slice could do better. Attempts to reach the service have been used up when this is asked. */
function isFatal(error: unknown): boolean {
  return recoveryFrom(error) === 'abort' || hasCode(error, 'api.unreachable')
}

function countByStream(slices: readonly Slice[]): ReadonlyMap<StreamName, number> {
  const counts = new Map<StreamName, number>()
  for (const { stream } of slices) counts.set(stream.name, (counts.get(stream.name) ?? 0) + 1)
  return counts
}

/** Every stream of the run has its place, also one without slices. */
function createTally(names: readonly Stream[]) {
  const streams: Partial<Record<StreamName, StreamOutcome>> = Object.fromEntries(
    names.map(({ name }) => [name, { counts: noCounts, slices: noSlices }]),
  )
  const problems = new Map<unknown, RunProblem>()
  let isLanded = false
  let unfinished = 0

  const count = ({ stream }: Slice, proof: Proof, counts: Counts): void => {
    const before = streams[stream.name] ?? { counts: noCounts, slices: noSlices }
    streams[stream.name] = {
      counts: addCounts(before.counts, counts),
      slices: { ...before.slices, [proof]: before.slices[proof] + 1 },
    }
    if (isGreen(proof)) isLanded = true
    else unfinished++
  }
  return {
    addNotBegun: (slice: Slice): void => count(slice, 'failed', noCounts),
    add: (slice: Slice, { proof, counts, error }: SliceResult): void => {
      count(slice, proof, counts)
      const name = { stream: slice.stream.name, partition: partitionKey(slice.partition) }
      if (error === undefined) return
      const problem = { ...name, ...describe(error) }
      // What ends the run reaches every slice in flight: it is told once.
      const key = isFatal(error) ? problem.code : slice
      if (!problems.has(key)) problems.set(key, problem)
    },
    /** `stopped`: why the run ended early; undefined when it did not. */
    result: (stopped: unknown): JobResult => {
      if (hasCode(stopped, 'run.interrupted')) {
        const message = `${stopped.message}: ${unfinished} slices were not finished; the next run goes on from there`
        problems.set(stopped.code, { stream: null, partition: null, code: stopped.code, message })
      }
      const isFailed = isFatal(stopped) && !hasCode(stopped, 'run.interrupted') && !isLanded
      const status = unfinished === 0 && stopped === undefined ? 'ok' : isFailed ? 'failed' : 'partial'
      return { status, streams, errors: [...problems.values()] }
    },
  }
}

function describe(error: unknown): Pick<RunProblem, 'code' | 'message'> {
  if (error instanceof LivehouseError) return { code: error.code, message: error.message }
  return { code: 'internal', message: error instanceof Error ? error.message : String(error) }
}
