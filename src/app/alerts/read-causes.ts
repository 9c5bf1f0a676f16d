import type { Cause } from '../../core/cause.ts'
import { readGoneChannels } from '../../ledger/channels.ts'
import { readFailedRuns } from '../../ledger/runs/run-causes.ts'
import { readUnknownFields } from '../../ledger/unknown-fields.ts'
import type { Db } from '../../store/database.ts'

/** How long an unknown field is a cause after it was first seen. */
const NEWS_MS = 86_400_000
const MAX_FIELD_LENGTH = 60
const MAX_REASON_LENGTH = 200

/**
 * Reads every current cause for an alert. Keep the statements few and quick: they run after each run and every minute,
 * in the transaction that holds the lock on alerts.
 */
export async function readCauses(db: Db, now: Date): Promise<readonly Cause[]> {
  const runs = (await readFailedRuns(db)).map(({ reason, ...run }) => {
    const shortReason = reason === null ? {} : { reason: shorten(reason, MAX_REASON_LENGTH) }
    return { kind: 'run', ...run, ...shortReason } as const
  })
  const fields = await readUnknownFields(db, new Date(now.getTime() - NEWS_MS))
  const gone = [...(await readGoneChannels(db))].toSorted()
  return [
    ...runs,
    // A service may use personal data as the name of a field, and names may have any length.
    ...fields.map(({ stream, field }) => {
      return { kind: 'unknownField', stream, field: shorten(field, MAX_FIELD_LENGTH) } as const
    }),
    ...gone.map((channel) => ({ kind: 'channelGone', channel }) as const),
  ]
}

/** The beginning of the text, with long numbers and e-mail addresses, which may be a person's, replaced. */
function shorten(text: string, longest: number): string {
  const masked = text.replaceAll(/\d{5,}|[^\s<>"']+@[^\s<>"']+/g, '…')
  return masked.slice(0, longest).toWellFormed()
}
