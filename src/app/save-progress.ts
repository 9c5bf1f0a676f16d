import { callIfStillRunning } from '../core/clock.ts'
import type { ProgressEvent, ReportProgress } from '../core/outcome.ts'
import { type SavedProgress, saveProgress } from '../ledger/runs/runs.ts'
import type { Db } from '../store/database.ts'
import type { AppContext } from './context.ts'

/** The status page asks every two seconds. */
const SAVE_AFTER_MS = 1000

/**
 * Shows and records the progress of a run. Use it with `await using`. Progress that cannot be saved is dropped: the run
 * itself reports problems with the database.
 */
export async function openRecordedProgress(
  { openProgress }: Pick<AppContext, 'openProgress'>,
  db: Db,
  runId: string,
): Promise<AsyncDisposable & { readonly report: ReportProgress }> {
  const display = await openProgress()
  const tally = createProgressTally()
  const streams = new Map<string, SavedProgress>()
  let saving = Promise.resolve()
  let cancelSave: (() => void) | undefined
  const save = () => {
    cancelSave = undefined
    saving = saving.then(() => saveProgress(db, runId, Object.fromEntries(streams))).catch(() => {})
  }
  return {
    report: (event) => {
      const state = tally(event)
      streams.set(event.stream, state)
      display.report(event.stream, state)
      cancelSave ??= callIfStillRunning(SAVE_AFTER_MS, save)
    },
    [Symbol.asyncDispose]: async () => {
      cancelSave?.()
      display[Symbol.dispose]()
      await saving
    },
  }
}

/** `open`: the share of its pages that has come, for each slice being read. */
const createCounters = () => ({ planned: 0, rows: 0, ended: 0, share: 0, open: new Map<string, number>() })
type Counters = ReturnType<typeof createCounters>

/** Returns a function that adds up events and returns the progress of the event's stream; its share never decreases. */
export function createProgressTally(): (event: ProgressEvent) => SavedProgress {
  const streams = new Map<string, Counters>()
  return (event) => {
    const counters = streams.get(event.stream) ?? createCounters()
    streams.set(event.stream, counters)
    count(counters, event)
    counters.share = Math.max(counters.share, shareOf(counters))
    const { rows, ended: endedParts, share } = counters
    return { rows, parts: partsOf(counters), endedParts, share }
  }
}

function count(counters: Counters, event: ProgressEvent): void {
  if (event.kind === 'stream.planned') {
    counters.planned += event.slices
    return
  }
  const share = counters.open.get(event.slice) ?? 0
  counters.open.set(event.slice, share)
  if (event.kind === 'page') {
    counters.rows += event.rows
    counters.open.set(event.slice, Math.min(1, share + 1 / (event.totalPages ?? Infinity)))
  } else if (event.kind === 'slice.ended') {
    counters.ended++
    counters.open.delete(event.slice)
  } else if (event.kind === 'slice.cut') {
    counters.planned += event.parts - 1
    counters.open.delete(event.slice)
  }
}

function shareOf(counters: Counters): number {
  const read = [...counters.open.values()].reduce((sum, share) => sum + share, counters.ended)
  return read === 0 ? 0 : read / partsOf(counters)
}

function partsOf({ planned, ended, open }: Counters): number {
  return Math.max(planned, ended + open.size)
}
