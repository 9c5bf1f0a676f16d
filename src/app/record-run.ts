import type { RunOutcome } from '../core/outcome.ts'
import { Leases } from '../ledger/leases/leases.ts'
import { finishRun, openRun } from '../ledger/runs/runs.ts'
import type { Db } from '../store/database.ts'
import { sendAlerts } from './alerts/send-alerts.ts'
import { watchForCancel } from './cancel-run.ts'
import type { AppContext } from './context.ts'
import { failureOutcome, outcomeObject, unwrapSuppressed } from './outcome.ts'
import type { ExtractionSettings } from './settings.ts'

/** A run under way. */
export interface OpenRun {
  readonly runId: string
  readonly leases: Leases
  /** Aborts when the context's signal does, or when somebody cancels the run. */
  readonly signal: AbortSignal
}

export interface RecordRequest<T extends RunOutcome> {
  readonly db: Db
  readonly command: string
  /** The request, as the run records it; no secrets. */
  readonly parameters: Readonly<Record<string, unknown>>
  readonly namesChannels?: boolean
  /** Where to send alerts; if not given, none are sent. */
  readonly settings?: Pick<ExtractionSettings, 'service' | 'alerts'>
  /** Converts the outcome to what the run records; no values of rows. */
  readonly toRecord?: (outcome: T) => unknown
}

type RunHeader = Pick<RunOutcome, 'runId' | 'command' | 'startedAt' | 'finishedAt'>

/**
 * Does `work` as a run that is recorded however it ends, and then sends alerts.
 * @returns the outcome; if `work` threw, the recorded failure and the error
 */
export async function recordRun<T extends RunOutcome>(
  context: AppContext,
  { db, command, parameters, namesChannels, settings, toRecord = outcomeObject }: RecordRequest<T>,
  work: (run: OpenRun) => Promise<Omit<T, keyof RunHeader>>,
): Promise<{ readonly outcome: T } | { readonly failure: RunOutcome; readonly error: unknown }> {
  const { clock, log, askedBy } = context
  const startedAt = new Date(clock.now())
  await using leases = new Leases(db)
  const record = { ...parameters, ...(namesChannels && { namesChannels }), ...(askedBy !== undefined && { askedBy }) }
  const runId = await openRun(db, { command, settings: record, startedAt }, leases)
  context.onRun?.(runId)
  await using cancel = watchForCancel(leases, runId)
  const signal = AbortSignal.any([context.signal, cancel.signal])
  const header = () => ({
    runId,
    command,
    startedAt: startedAt.toISOString(),
    finishedAt: new Date(clock.now()).toISOString(),
  })
  const finish = async ({ status, finishedAt, resumesAt }: RunOutcome, outcome: unknown): Promise<void> => {
    const resumes = resumesAt === null ? null : new Date(resumesAt)
    await finishRun(db, runId, { status, finishedAt: new Date(finishedAt), resumesAt: resumes, outcome })
    log.info('run.ended', { runId, command, status })
    if (settings) await sendAlerts(context, db, settings)
  }
  let outcome: T
  try {
    const result = await work({ runId, leases, signal })
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `work` and `header` make up all of `T`
    outcome = { ...result, ...header() } as unknown as T
  } catch (thrown) {
    const error = unwrapSuppressed(thrown)
    const failure = failureOutcome(runId, { error, ...header() })
    // If the database does not answer, that probably stopped the run too: a second error would only hide the first.
    await finish(failure, outcomeObject(failure)).catch(() => {})
    return { failure, error }
  }
  await finish(outcome, toRecord(outcome))
  return { outcome }
}
