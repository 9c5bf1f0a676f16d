import type { JobDefinition } from '../core/define-job.ts'

/** A job as the scheduler has it: what its file says, checked, with what the file leaves open filled in. */
export interface Job {
  /** That of its file. */
  readonly name: string
  readonly kind: 'sync' | 'backfill' | 'audit'
  readonly cron: string
  /** IANA. */
  readonly timeZone: string
  readonly isEnabled: boolean
  readonly catchUp: 'once' | 'never'
  readonly definition: JobDefinition
  /** Of the whole definition: processes with other files are told of each other. */
  readonly digest: string
}
