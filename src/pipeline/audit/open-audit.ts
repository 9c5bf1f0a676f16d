import { type CallMeter, createCallMeter } from '../call-meter.ts'
import type { ListComparison } from './audit-list.ts'
import type { AuditTask } from './plan-audit.ts'

/** A partition that is being compared: what has been found so far, and the calls that it took. */
export interface OpenAudit {
  readonly task: AuditTask
  readonly meter: CallMeter
  /** Undefined until it has been compared, and where that failed. */
  comparison: ListComparison | undefined
  /** Why it failed. */
  error: unknown
}

export function openAudit(task: AuditTask): OpenAudit {
  return { task, meter: createCallMeter(), comparison: undefined, error: undefined }
}
