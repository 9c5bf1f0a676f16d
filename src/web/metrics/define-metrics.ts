import { Counter, Gauge, Histogram, type Registry } from 'prom-client'

/**
 * Every metric of livehouse. Labels are of bounded sets only: streams, endpoints, proofs, outcomes, commands, jobs; never a
 * channel, a viewer or a message.
 */
export function defineMetrics(registry: Registry) {
  const registers = [registry]
  const gauge = <Label extends string>(name: string, help: string, labelNames: readonly Label[] = []) =>
    new Gauge({ name: `livehouse_${name}`, help, labelNames, registers })
  const counter = <Label extends string>(name: string, help: string, labelNames: readonly Label[]) =>
    new Counter({ name: `livehouse_${name}`, help, labelNames, registers })
  return {
    calls: counter('calls_total', 'Calls that this process made to the service, repeated ones too', [
      'endpoint',
      'outcome',
    ]),
    refusals: counter('refusals_total', 'Calls of this process that the service refused because of their number', [
      'endpoint',
    ]),
    callSeconds: new Histogram({
      name: 'livehouse_call_duration_seconds',
      help: 'How long the answered calls of this process took, by endpoint',
      labelNames: ['endpoint'],
      buckets: [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
      registers,
    }),
    runs: counter('runs_total', 'Runs of any process that ended since this one began', ['command', 'status']),
    runCalls: counter('run_calls_total', 'Calls of the runs that ended', ['stream']),
    runRetries: counter('run_retries_total', 'Of these, repeated ones', ['stream']),
    rows: counter('rows_total', 'Rows of the runs that ended, by what became of them', ['stream', 'outcome']),
    slices: counter('slices_total', 'Slices of the runs that ended, by how complete they are known to be', [
      'stream',
      'proof',
    ]),
    lastRunStatus: gauge('last_run_status', '1 for how the last run that ended did end', ['status']),
    lastRunEnd: gauge('last_run_end_timestamp_seconds', 'When the last run ended'),
    sinceVerified: gauge(
      'seconds_since_last_verified_slice',
      'Age of the latest slice that was proven by the total of the service; streams without totals have none',
      ['stream'],
    ),
    sinceLanded: gauge(
      'seconds_since_last_complete_read',
      'How long ago the part of a stream that was not read for longest was last read to its end; +Inf where one never was',
      ['stream'],
    ),
    behind: gauge(
      'seconds_behind',
      'How far the end of what is complete lies behind now, of the part that is furthest behind; +Inf where one was never read',
      ['stream'],
    ),
    partitions: gauge('partitions', 'Parts of active channels by the proof of their latest slice', ['stream', 'proof']),
    gaps: gauge('gaps', 'Ranges inside what is covered that are not', ['stream']),
    problems: gauge('open_problems', 'Readings that fell short or failed and were not made good', ['stream']),
    quarantined: gauge('quarantined_rows', 'Rows that cannot be read', ['stream']),
    channels: gauge('channels', 'Channels of the warehouse by state', ['state']),
    isComplete: gauge('is_complete', '1 while all that is read is fresh, without gaps and proven as far as it can be'),
    budgetCalls: gauge('v1_budget_calls', 'Calls that version 1 of the watch records allows a day'),
    budgetLeft: gauge('v1_budget_left', 'Of these, what is left today; where each channel has its own, the least'),
    jobNext: gauge('job_next_run_timestamp_seconds', 'When a job is due next', ['job']),
    jobLast: gauge('job_last_run_timestamp_seconds', 'When a job was last begun', ['job', 'status']),
    jobRunning: gauge('job_running', '1 while a process runs the job', ['job']),
    databaseUp: gauge('database_up', '1 while the database answers'),
    factsAge: gauge('facts_age_seconds', 'How old the numbers from the database are'),
    info: gauge('build_info', 'The version that runs', ['version']),
  } as const
}

export type Metrics = ReturnType<typeof defineMetrics>
