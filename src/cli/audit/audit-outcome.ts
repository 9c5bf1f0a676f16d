import type { RunOutcome } from '../../core/outcome.ts'
import type { StreamName } from '../../core/stream.ts'
import type { AuditResult } from '../../pipeline/audit/run-audit.ts'

/** A run, and what it has found. */
export interface AuditOutcome extends RunOutcome, Pick<AuditResult, 'partitions' | 'pages'> {
  /** Streams that were named and cannot be compared. */
  readonly unaudited: readonly StreamName[]
  /** Channels that the service no longer knows: nothing of them was compared. */
  readonly gone: readonly string[]
}
