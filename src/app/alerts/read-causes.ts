import type { Cause } from '../../core/cause.ts'
import { readGoneChannels } from '../../ledger/channels.ts'
import { readUnknownFields } from '../../ledger/unknown-fields.ts'
import { readFailedRuns } from '../../ledger/runs/run-causes.ts'
import type { Db } from '../../store/database.ts'

/** How long an unknown field is a cause after it first came. */
const NEWS_MS = 86_400_000
const LONGEST_FIELD = 60
const LONGEST_REASON = 200

/**
 * Every cause that there is now for an alert: the part of `readHealth` that alerts need. Its few quick statements run
 * after each run and each minute, too, in the transaction that holds the lock of the alerts.
 */
export async function readCauses(db: Db, now: Date): Promise<readonly Cause[]> {
  const runs = (await readFailedRuns(db)).map(({ reason, ...run }) => {
    const shown = reason === null ? {} : { reason: shorten(reason, LONGEST_REASON) }
    return { kind: 'run', ...run, ...shown } as const
  })
  const fields = await readUnknownFields(db, new Date(now.getTime() - NEWS_MS))
  const gone = [...(await readGoneChannels(db))].toSorted()
  return [
    ...runs,
    // A service may use a person's number as the name of a field, and names may be of any length.
    ...fields.map(({ stream, field }) => {
      return { kind: 'unknownField', stream, field: shorten(field, LONGEST_FIELD) } as const
    }),
    ...gone.map((channel) => ({ kind: 'channelGone', channel }) as const),
  ]
}

/** The beginning of the text without what could be the number or address of a person, and without half a character. */
function shorten(text: string, longest: number): string {
  const shown = text.replaceAll(/\d{5,}|[^\s<>"']+@[^\s<>"']+/g, '…')
  return shown.slice(0, longest).toWellFormed()
}
