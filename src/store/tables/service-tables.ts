import type { BigInteger, Instant, Json, OptionalInstant } from '../column-types.ts'

/** A row a scope and day of the service. */
export interface CallBudgetTable {
  scope: string
  service_day: string
  calls: number
  first_call_at: Instant
  last_call_at: Instant
  spent_at: OptionalInstant
}

export interface AccessTokensTable {
  auth_url: string
  app_id: string
  sealed: Buffer
  expires_at: Instant
}

export interface CallPacesTable {
  host: string
  version: BigInteger
  pace: Json
}

/** What a probe found out about the service. */
export interface SourceFactsTable {
  topic: string
  subject: string
  answer: string | null
  evidence: string
  found_at: Instant
  run_id: BigInteger
}
