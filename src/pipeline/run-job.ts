import pLimit from 'p-limit'
import { hasCode, LivehouseError, recoveryFrom } from '../core/errors.ts'
import { addCounts, noCounts, noSlices, type RunProblem, type RunStatus, type StreamOutcome } from '../core/outcome.ts'
import { isGreen, partitionKey } from '../core/slice.ts'
import type { StreamName } from '../core/stream.ts'
import { runSlice, type SliceResult } from './run-slice.ts'
import type { RunDeps, Slice } from './slice-work.ts'

/** What a run brought, before it is written down. */
export interface JobResult {
  readonly status: RunStatus
  readonly streams: Readonly<Partial<Record<StreamName, StreamOutcome>>>
  readonly errors: readonly RunProblem[]
}

/**
 * Extracts slices side by side, `concurrency` at a time. One that fails does not stop the others; an error that none could
 * survive (credentials refused, service or database out of reach) ends the run, and what was not begun fails with it.
 * @throws LivehouseError `run.interrupted`, when what was in flight has ended.
 */
export async function runJob(slices: readonly Slice[], deps: RunDeps, concurrency: number): Promise<JobResult> {
  const limit = pLimit(concurrency)
  const fatal = new AbortController()
  const signal = AbortSignal.any([deps.signal, fatal.signal])
  const tally = createTally()
  for (const [stream, count] of countByStream(slices)) deps.report({ kind: 'stream.planned', stream, slices: count })

  await Promise.all(
    slices.map((slice) =>
      limit(async () => {
        if (signal.aborted) return tally.add(slice, notBegun(signal.reason))
        const result = await runSlice(slice, { ...deps, signal })
        if (isFatal(result.error) && !signal.aborted) fatal.abort(result.error)
        return tally.add(slice, result)
      }),
    ),
  )
  deps.signal.throwIfAborted()
  return tally.result()
}

/** Nothing that the next slice could do better. Attempts to reach the service have been used up when this is asked. */
function isFatal(error: unknown): boolean {
  return recoveryFrom(error) === 'abort' || hasCode(error, 'api.unreachable')
}

function notBegun(error: unknown): SliceResult {
  return { proof: 'failed', counts: noCounts, error }
}

function countByStream(slices: readonly Slice[]): ReadonlyMap<StreamName, number> {
  const counts = new Map<StreamName, number>()
  for (const { stream } of slices) counts.set(stream.name, (counts.get(stream.name) ?? 0) + 1)
  return counts
}

function createTally() {
  const streams: Partial<Record<StreamName, StreamOutcome>> = {}
  const problems: RunProblem[] = []
  let isLanded = false
  let isWhole = true
  let isAborted = false

  return {
    add: ({ stream, partition }: Slice, { proof, counts, error }: SliceResult): void => {
      const before = streams[stream.name] ?? { counts: noCounts, slices: noSlices }
      streams[stream.name] = {
        counts: addCounts(before.counts, counts),
        slices: { ...before.slices, [proof]: before.slices[proof] + 1 },
      }
      if (isGreen(proof)) isLanded = true
      else isWhole = false
      if (isFatal(error)) isAborted = true
      if (error !== undefined)
        problems.push({ stream: stream.name, partition: partitionKey(partition), ...describe(error) })
    },
    result: (): JobResult => ({
      status: isWhole ? 'ok' : isAborted && !isLanded ? 'failed' : 'partial',
      streams,
      errors: problems,
    }),
  }
}

function describe(error: unknown): Pick<RunProblem, 'code' | 'message'> {
  if (error instanceof LivehouseError) return { code: error.code, message: error.message }
  return { code: 'internal', message: error instanceof Error ? error.message : String(error) }
}
