import type { GeneratedAlways } from 'kysely'
import type { BigInteger, Instant, OptionalInstant } from '../column-types.ts'

/** Shortfalls that an operator has acknowledged. */
export interface AcceptancesTable {
  acceptance_id: GeneratedAlways<string>
  stream: string
  channel_id: string | null
  /** A `tsmultirange` as text; null for a walk over a whole list. */
  ranges: string | null
  missing_rows: BigInteger
  reason: string
  accepted_at: Instant
  expires_at: Instant
  withdrawn_at: OptionalInstant
}

export interface AcceptanceUsesTable {
  acceptance_id: BigInteger
  run_id: BigInteger
  missing_rows: BigInteger
}
