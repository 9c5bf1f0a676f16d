import type { Kysely } from 'kysely'
import type { ProgressEvent } from '../core/progress.ts'
import { type SavedProgress, saveProgress } from '../ledger/runs.ts'
import type { Database } from '../store/database.ts'
import { createProgressTally } from '../sync/progress-tally.ts'
import type { AppContext } from './context.ts'

/** Pages of other processes look every two seconds. */
const SAVE_EVERY_MS = 2000

/** How a run goes on, shown to a person and kept on record. Use it with `await using`. */
export interface RecordedProgress extends AsyncDisposable {
  readonly report: (event: ProgressEvent) => void
}

/** What cannot be written down is not: the run goes on, and says itself what is wrong with the database. */
export async function openProgressOnRecord(
  { clock, openProgress }: AppContext,
  db: Kysely<Database>,
  runId: string,
): Promise<RecordedProgress> {
  const shown = await openProgress()
  const tally = createProgressTally()
  const streams = new Map<string, SavedProgress>()
  let savedAtMs = -Infinity
  let saving: Promise<void> | undefined
  return {
    report: (event) => {
      shown.report(event)
      const { rows, slices, endedSlices, share } = tally.add(event)
      streams.set(event.stream, { rows, parts: slices, endedParts: endedSlices, share })
      if (saving !== undefined || clock.now() - savedAtMs < SAVE_EVERY_MS) return
      savedAtMs = clock.now()
      saving = saveProgress(db, runId, Object.fromEntries(streams))
        .catch(() => {})
        .finally(() => (saving = undefined))
    },
    [Symbol.asyncDispose]: async () => {
      shown[Symbol.dispose]()
      await saving
    },
  }
}
