import type { Kysely } from 'kysely'
import { callIfStillRunning } from '../core/clock.ts'
import { createProgressTally, type ProgressEvent } from '../core/progress.ts'
import { type SavedProgress, saveProgress } from '../ledger/runs.ts'
import type { Database } from '../store/database.ts'
import type { AppContext } from './context.ts'

/** Pages look every two seconds. */
const SAVE_AFTER_MS = 1000

/** How a run goes on, shown to a person and kept on record. Use it with `await using`. */
export interface RecordedProgress extends AsyncDisposable {
  readonly report: (event: ProgressEvent) => void
}

/** What cannot be written down is not: the run goes on, and says itself what is wrong with the database. */
export async function openProgressOnRecord(
  { openProgress }: Pick<AppContext, 'openProgress'>,
  db: Kysely<Database>,
  runId: string,
): Promise<RecordedProgress> {
  const shown = await openProgress()
  const tally = createProgressTally()
  const streams = new Map<string, SavedProgress>()
  let saved = Promise.resolve()
  let callOff: (() => void) | undefined
  const save = () => {
    callOff = undefined
    saved = saved.then(() => saveProgress(db, runId, Object.fromEntries(streams))).catch(() => {})
  }
  return {
    report: (event) => {
      shown.report(event)
      const { rows, slices, endedSlices, share } = tally.add(event)
      streams.set(event.stream, { rows, parts: slices, endedParts: endedSlices, share })
      callOff ??= callIfStillRunning(SAVE_AFTER_MS, save)
    },
    [Symbol.asyncDispose]: async () => {
      callOff?.()
      shown[Symbol.dispose]()
      await saved
    },
  }
}
