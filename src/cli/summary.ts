import { outcomeObject } from '../app/outcome.ts'
import type { RunOutcome, RunStatus } from '../core/outcome.ts'
import type { CliContext } from './command.ts'
import { exitCodes } from './exit-codes.ts'
import { formatCount, formatMinuteIn, formatProofs, formatTable, printResult } from './format.ts'

const meanings: Readonly<Record<RunStatus, string>> = {
  ok: 'everything asked for has landed',
  partial: 'some of it failed or fell short; the rest has landed, and the next run goes on from there',
  waiting: 'nothing is wrong, but work is left',
  failed: 'nothing could be done',
}

const columns = ['inserted', 'updated', 'unchanged', 'calls'] as const
const exceptions = ['removed', 'quarantined', 'degraded'] as const

/** Describes a run: its streams, in sixty columns; its problems; its status. `timeZone`: the service's. */
export function summarize(outcome: RunOutcome, timeZone: string): string[] {
  const { status, streams, errors, startedAt, finishedAt, resumesAt } = outcome
  const all = Object.entries(streams)
  const rows = all.map(([name, { counts }]) => [name, counts.extracted, ...columns.map((column) => counts[column])])
  const ends = all.map(([name, { counts, slices }]) => {
    const others = exceptions.flatMap((each) => (counts[each] > 0 ? [`${counts[each]} ${each}`] : []))
    return [name, [formatProofs(slices), ...(others.length > 0 ? [`rows: ${others.join(', ')}`] : [])].join('; ')]
  })
  const tables = [...formatTable(['stream', 'read', ...columns], rows), '', ...formatTable(['stream', 'slices'], ends)]
  const later = resumesAt === null ? '' : `, goes on at ${formatMinuteIn(timeZone)(new Date(resumesAt))} ${timeZone}`
  // The clock may have been set back during the run.
  const seconds = Math.max(0, Date.parse(finishedAt) - Date.parse(startedAt)) / 1000
  const moving = Object.values(streams).reduce((sum, { slices }) => sum + slices.moving, 0)
  return [
    ...(all.length === 0 ? [] : tables),
    ...(moving === 0 ? [] : [`changed meanwhile, read again by the next run: ${formatCount(moving, 'list')}`]),
    ...errors.map(({ message }) => `✗ ${message}`),
    `${status}: ${meanings[status]} (${seconds.toFixed(1)} s${later})`,
  ]
}

/** Prints what a run did, as text or as the object of `--json`. @returns the exit code */
export function printOutcome(context: CliContext, outcome: RunOutcome, isJson: boolean, timeZone: string): number {
  printResult(context, isJson, outcomeObject(outcome), summarize(outcome, timeZone))
  return exitCodes[outcome.status]
}
