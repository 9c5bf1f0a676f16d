import { type Kysely, sql } from 'kysely'
import type { Window } from '../core/slice.ts'
import type { Database } from '../db/database.ts'
import { readBounds } from './wall-range.ts'

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
  readonly withdrawnAt: Date | null
  /** Whether something still counts by it: that is short again with the next run, where the acceptance is over. */
  readonly isInUse: boolean
}

/** Whether it still lets a shortfall pass. */
export function isStanding({ expiresAt, withdrawnAt }: Acceptance, nowMs: number): boolean {
  return withdrawnAt === null && expiresAt.getTime() > nowMs
}

/** Every acceptance, the newest first. */
export async function readAcceptances(db: Kysely<Database>): Promise<readonly Acceptance[]> {
  const { rows } = await sql<AcceptanceRow>`
    select acceptance_id, stream, channel_id, missing_rows, reason, accepted_at, expires_at, withdrawn_at,
      (select json_agg(json_build_array(lower(range)::text, upper(range)::text) order by range)
        from unnest(ranges) as range) as windows,
      (select missing_rows from livehouse_ops.acceptance_uses as used
        where used.acceptance_id = acceptance.acceptance_id order by run_id desc limit 1) as taken,
      exists (select from livehouse_ops.slices where slices.acceptance_id = acceptance.acceptance_id) as is_in_use
    from livehouse_ops.acceptances as acceptance order by acceptance.acceptance_id desc`.execute(db)
  return rows.map((row) => ({
    acceptanceId: row.acceptance_id,
    stream: row.stream,
    channelId: row.channel_id,
    windows: (row.windows ?? []).flatMap(([lower, upper]) => readBounds(lower, upper) ?? []),
    missingRows: Number(row.missing_rows),
    takenRows: row.taken === null ? undefined : Number(row.taken),
    reason: row.reason,
    acceptedAt: row.accepted_at,
    expiresAt: row.expires_at,
    withdrawnAt: row.withdrawn_at,
    isInUse: row.is_in_use,
  }))
}

interface AcceptanceRow {
  readonly acceptance_id: string
  readonly stream: string
  readonly channel_id: string | null
  /** As JSON gives the bounds: with a space, as Postgres writes `timestamp` text. */
  readonly windows: readonly (readonly [string, string])[] | null
  readonly missing_rows: string
  readonly taken: string | null
  readonly reason: string
  readonly accepted_at: Date
  readonly expires_at: Date
  readonly withdrawn_at: Date | null
  readonly is_in_use: boolean
}
