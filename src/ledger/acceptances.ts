import { type Kysely, sql } from 'kysely'
import { formatRange, parseRanges, type Window } from '../core/slice.ts'
import type { StreamName } from '../core/stream.ts'
import type { Database } from '../store/database.ts'
import { lockName } from '../store/lock-name.ts'
import type { OpenReading } from './open-readings.ts'

/** A shortfall that is to be accepted: one channel (null for the account) of one stream. */
export interface NewAcceptance {
  readonly stream: StreamName
  readonly channelId: string | null
  /** Not empty; each says how much is missing. */
  readonly shortfalls: readonly OpenReading[]
  readonly reason: string
  readonly acceptedAt: Date
  readonly expiresAt: Date
  /**
   * Whether its rows have an id: then those that did come have been written, and what was read counts as covered at once. Else it
   * counts when it has been read again.
   */
  readonly isKeyed: boolean
}

/**
 * Accepts shortfalls up to their size, together. What is open now is accepted with it. An earlier acceptance of the same channel
 * whose whole range it holds gives way to it.
 * @returns the number of the acceptance
 */
export async function recordAcceptance(db: Kysely<Database>, acceptance: NewAcceptance): Promise<string> {
  const { stream, channelId, shortfalls, reason, acceptedAt, expiresAt, isKeyed } = acceptance
  const windows = shortfalls.flatMap(({ window }) => window ?? [])
  const missing = shortfalls.reduce((sum, { missingRows }) => sum + (missingRows ?? 0), 0)
  return await db.transaction().execute(async (trx) => {
    await lockName(trx, 'ledger')
    const { rows } = await sql<{ acceptance_id: string }>`
      with scope as (
        select range_agg(range) as whole from unnest(${windows.map(formatRange)}::tsrange[]) as range
      ),
      made as (
        insert into livehouse_ops.acceptances (stream, channel_id, ranges, missing_rows, reason, accepted_at, expires_at)
        select ${stream}, ${channelId}, whole, ${missing}::bigint, ${reason}, ${acceptedAt}, ${expiresAt} from scope
        returning acceptance_id
      ),
      replaced as (
        update livehouse_ops.acceptances set withdrawn_at = ${acceptedAt} from scope
        where stream = ${stream} and channel_id is not distinct from ${channelId} and withdrawn_at is null
          and (ranges is null or ranges <@ whole)
        returning acceptances.acceptance_id
      ),
      handed_over as (
        update livehouse_ops.slices set acceptance_id = made.acceptance_id from made
        where slices.acceptance_id in (select acceptance_id from replaced)
      )
      select acceptance_id from made`.execute(trx)
    const acceptanceId = rows[0]?.acceptance_id ?? ''
    await trx
      .updateTable('livehouse_ops.slices')
      .set({
        proof: 'accepted',
        acceptance_id: acceptanceId,
        status: sql`case when is_drop or ${isKeyed} then 'landed' else status end`,
      })
      .where(
        'slice_id',
        'in',
        shortfalls.map(({ sliceId }) => sliceId ?? ''),
      )
      .execute()
    return acceptanceId
  })
}

/** A slice that has fallen short. */
export interface AcceptanceQuestion {
  readonly stream: StreamName
  readonly channelId: string | null
  /** Undefined for a walk over the whole list. */
  readonly window: Window | undefined
  readonly missingRows: number
  readonly runId: string
  readonly now: Date
}

/**
 * Takes a shortfall from an acceptance that stands and has room for it: all slices of one run together may lack as many rows as
 * it is large. @returns its number; undefined where none has room
 */
export async function takeAcceptance(db: Kysely<Database>, question: AcceptanceQuestion): Promise<string | undefined> {
  const { stream, channelId, window, missingRows, runId, now } = question
  const meets = window === undefined ? sql`ranges is null` : sql`ranges && ${formatRange(window)}::tsrange`
  const { rows: standing } = await sql<{ acceptance_id: string; size: string }>`
    select acceptance_id, missing_rows as size from livehouse_ops.acceptances
    where stream = ${stream} and channel_id is not distinct from ${channelId} and ${meets}
      and withdrawn_at is null and expires_at > ${now} and missing_rows >= ${missingRows}
    order by missing_rows`.execute(db)
  for (const { acceptance_id, size } of standing) {
    // One statement, so that slices that land side by side never take more than there is.
    const { rows } = await sql`
      insert into livehouse_ops.acceptance_uses as used (acceptance_id, run_id, missing_rows)
      values (${acceptance_id}::bigint, ${runId}::bigint, ${missingRows}::bigint)
      on conflict (acceptance_id, run_id) do update set missing_rows = used.missing_rows + excluded.missing_rows
      where used.missing_rows + excluded.missing_rows <= ${size}::bigint
      returning acceptance_id`.execute(db)
    if (rows.length > 0) return acceptance_id
  }
  return undefined
}

/** What acceptances that have expired let pass is short again: the next sync reads it. */
export async function endAcceptances(db: Kysely<Database>, now: Date): Promise<void> {
  await sql`
    update livehouse_ops.slices as slice set status = 'failed', proof = 'short', acceptance_id = null
    from livehouse_ops.acceptances as acceptance
    where slice.acceptance_id = acceptance.acceptance_id
      and (acceptance.withdrawn_at is not null or acceptance.expires_at <= ${now})`.execute(db)
}

/** A shortfall that an operator has acknowledged, and what became of it. */
export interface Acceptance {
  readonly acceptanceId: string
  readonly stream: string
  /** Null for a stream of the account. */
  readonly channelId: string | null
  /** Where it fell short, oldest first; none for a walk over a whole list. */
  readonly windows: readonly Window[]
  readonly missingRows: number
  /** Of these, what the last run that fell short so has taken; undefined where none has yet. */
  readonly takenRows: number | undefined
  readonly reason: string
  readonly acceptedAt: Date
  readonly expiresAt: Date
  /** Whether something still counts by it: that is short again with the next run, where the acceptance is over. */
  readonly isInUse: boolean
}

/** Whether it still lets a shortfall pass. */
export function isStanding({ expiresAt }: Acceptance, nowMs: number): boolean {
  return expiresAt.getTime() > nowMs
}

/** Every acceptance but those that a later one has replaced, the newest first. */
export async function readAcceptances(db: Kysely<Database>): Promise<readonly Acceptance[]> {
  const { rows } = await sql<AcceptanceRow>`
    select acceptance_id as "acceptanceId", stream, channel_id as "channelId", missing_rows::float8 as "missingRows", reason,
      accepted_at as "acceptedAt", expires_at as "expiresAt",
      ranges::text as windows,
      (select missing_rows::float8 from livehouse_ops.acceptance_uses as used
        where used.acceptance_id = acceptance.acceptance_id order by run_id desc limit 1) as "takenRows",
      exists (select from livehouse_ops.slices where slices.acceptance_id = acceptance.acceptance_id) as "isInUse"
    from livehouse_ops.acceptances as acceptance where withdrawn_at is null order by acceptance_id desc`.execute(db)
  return rows.map(({ windows, takenRows, ...acceptance }) => ({
    ...acceptance,
    windows: parseRanges(windows),
    takenRows: takenRows ?? undefined,
  }))
}

interface AcceptanceRow extends Omit<Acceptance, 'windows' | 'takenRows'> {
  readonly takenRows: number | null
  /** A `tsmultirange` as text. */
  readonly windows: string | null
}
