import { formatRanges, parseRanges } from '../../core/slice.ts'
import type { Db } from '../../store/database.ts'
import { lockName } from '../../store/lock-name.ts'
import type { OpenReading } from '../open-readings.ts'
import { ops, type Row } from '../ops.ts'

/** Shortfalls of one stream in one channel (null for the account) that an operator accepts. */
export interface NewAcceptance
  extends Pick<Row<'acceptances'>, 'stream' | 'channelId' | 'reason' | 'acceptedAt' | 'expiresAt'> {
  /** At least one, each with its number of missing rows. */
  readonly shortfalls: readonly OpenReading[]
  /** Whether rows have an id: then they are already in the table, and the range counts as covered at once. */
  readonly isKeyed: boolean
}

/**
 * Records an acceptance of the sum of the missing rows, and marks the slices of the shortfalls as accepted. Earlier
 * acceptances for the same channel within its range are withdrawn.
 * @returns the number of the acceptance
 */
export async function recordAcceptance(db: Db, acceptance: NewAcceptance): Promise<string> {
  const { stream, channelId, shortfalls, reason, acceptedAt, expiresAt, isKeyed } = acceptance
  const windows = shortfalls.flatMap(({ window }) => window ?? [])
  const missingRows = shortfalls.reduce((sum, { missingRows: missing }) => sum + (missing ?? 0), 0)
  const ranges = windows.length === 0 ? null : formatRanges(windows)
  return await db.transaction().execute(async (trx) => {
    await lockName(trx, 'ledger')
    const { acceptanceId } = await ops(trx)
      .insertInto('acceptances')
      .values({ stream, channelId, ranges, missingRows, reason, acceptedAt, expiresAt })
      .returning('acceptanceId')
      .executeTakeFirstOrThrow()
    const replaced = await ops(trx)
      .updateTable('acceptances')
      .set({ withdrawnAt: acceptedAt })
      .where('stream', '=', stream)
      .where('channelId', 'is not distinct from', channelId)
      .where('withdrawnAt', 'is', null)
      .where('acceptanceId', '!=', acceptanceId)
      .where((eb) => eb.or([eb('ranges', 'is', null), eb('ranges', '<@', ranges)]))
      .returning('acceptanceId')
      .execute()
    const replacedIds = ['0', ...replaced.map((each) => each.acceptanceId)]
    await ops(trx).updateTable('slices').set({ acceptanceId }).where('acceptanceId', 'in', replacedIds).execute()
    const sliceIds = shortfalls.map(({ sliceId }) => sliceId ?? '0')
    const acceptedSlices = ops(trx).updateTable('slices').where('sliceId', 'in', sliceIds)
    await acceptedSlices.set({ proof: 'accepted', acceptanceId }).execute()
    if (isKeyed) await acceptedSlices.set({ status: 'landed' }).execute()
    return acceptanceId
  })
}

/** A slice that fell short, with the number of missing rows. */
interface Shortfall extends Pick<OpenReading, 'stream' | 'channelId' | 'window'> {
  readonly missingRows: number
  readonly runId: string
  readonly now: Date
}

/**
 * Charges a shortfall to an acceptance: the slices of one run may together lack as many rows as it allows.
 * @returns the number of the acceptance; undefined if none has room for this shortfall
 */
export async function chargeAcceptance(db: Db, question: Shortfall): Promise<string | undefined> {
  const { stream, channelId, window, missingRows, runId, now } = question
  const candidates = await ops(db)
    .selectFrom('acceptances')
    .select(['acceptanceId', 'missingRows as size'])
    .where('stream', '=', stream)
    .where('channelId', 'is not distinct from', channelId)
    .where((eb) => (window ? eb('ranges', '&&', formatRanges([window])) : eb('ranges', 'is', null)))
    .where('withdrawnAt', 'is', null)
    .where('expiresAt', '>', now)
    .where('missingRows', '>=', String(missingRows))
    .orderBy('missingRows')
    .execute()
  for (const { acceptanceId, size } of candidates) {
    // In one statement, so that slices that land at the same time never use more than the acceptance allows.
    const use = await ops(db)
      .insertInto('acceptance_uses')
      .values({ acceptanceId, runId, missingRows })
      .onConflict((conflict) =>
        conflict
          .columns(['acceptanceId', 'runId'])
          .doUpdateSet((eb) => ({ missingRows: eb('acceptance_uses.missingRows', '+', String(missingRows)) }))
          .where((eb) => eb(eb('acceptance_uses.missingRows', '+', String(missingRows)), '<=', size)),
      )
      .returning('acceptanceId')
      .executeTakeFirst()
    if (use !== undefined) return acceptanceId
  }
  return undefined
}

/** Makes slices short again if their acceptance has expired or was withdrawn, so that the next sync reads them. */
export async function endAcceptances(db: Db, now: Date): Promise<void> {
  await ops(db)
    .updateTable('slices')
    .from('acceptances')
    .set({ status: 'failed', proof: 'short', acceptanceId: null })
    .whereRef('slices.acceptanceId', '=', 'acceptances.acceptanceId')
    .where((eb) => eb.or([eb('withdrawnAt', 'is not', null), eb('expiresAt', '<=', now)]))
    .execute()
}

/** An acceptance on record, with how much of it is used. `channelId`: null for the account. */
export type Acceptance = Awaited<ReturnType<typeof readAcceptances>>[number]

/** All acceptances that were not withdrawn, newest first. */
export async function readAcceptances(db: Db) {
  const rows = await ops(db)
    .selectFrom('acceptances as given')
    .select(['acceptanceId', 'stream', 'channelId', 'missingRows', 'reason', 'acceptedAt', 'expiresAt', 'ranges'])
    .select((eb) => {
      const uses = eb.selectFrom('acceptance_uses as used').whereRef('used.acceptanceId', '=', 'given.acceptanceId')
      const slices = eb.selectFrom('slices').whereRef('slices.acceptanceId', '=', 'given.acceptanceId')
      return [
        uses.select('used.missingRows').orderBy('runId', 'desc').limit(1).as('takenRows'),
        // Whether slices still count as accepted: after an acceptance has expired, the next run makes them short again.
        eb.exists(slices.select('sliceId')).$castTo<boolean>().as('isInUse'),
      ]
    })
    .where('withdrawnAt', 'is', null)
    .orderBy('acceptanceId', 'desc')
    .execute()
  return rows.map(({ ranges, missingRows, takenRows, ...acceptance }) => ({
    ...acceptance,
    /** The accepted ranges, oldest first; none for a whole list. */
    windows: parseRanges(ranges),
    missingRows: Number(missingRows),
    /** How many of these rows the last run that used it lacked; undefined if no run has used it. */
    takenRows: takenRows === null ? undefined : Number(takenRows),
  }))
}

/** Deletes the uses of acceptances that ended before this time. */
export async function deleteUses(db: Db, before: Date): Promise<void> {
  const all = ops(db).selectFrom('acceptances').select('acceptanceId')
  const endedAcceptances = all.where((eb) => eb.or([eb('expiresAt', '<', before), eb('withdrawnAt', '<', before)]))
  await ops(db).deleteFrom('acceptance_uses').where('acceptanceId', 'in', endedAcceptances).execute()
}
