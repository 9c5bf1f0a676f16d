import type { RunOutcome, RunStatus } from '../core/outcome.ts'
import { formatProofs, formatTable, minuteIn, printResult } from './format.ts'
import { outcomeObject } from '../app/outcome.ts'
import type { CliContext } from './command.ts'
import { exitCodeOfStatus } from './failure.ts'

const meanings: Readonly<Record<RunStatus, string>> = {
  ok: 'everything asked for has landed',
  partial: 'some of it failed or fell short; the rest has landed, and the next run goes on from there',
  waiting: 'nothing is wrong, but work is left',
  failed: 'nothing could be done',
}

const columns = ['inserted', 'updated', 'unchanged', 'removed', 'quarantined', 'degraded', 'calls'] as const

/** What a run did, for a person: a line a stream, the problems, and the verdict. `timeZone`: the service's. */
export function summarize(outcome: RunOutcome, timeZone: string): string[] {
  const { status, streams, errors, startedAt, finishedAt, resumesAt } = outcome
  const hasRemoved = Object.values(streams).some(({ counts }) => counts.removed > 0)
  const shown = columns.filter((column) => column !== 'removed' || hasRemoved)
  const rows = Object.entries(streams).map(([name, { counts, slices }]) => [
    name,
    counts.extracted,
    ...shown.map((column) => counts[column]),
    formatProofs(slices),
  ])
  const later = resumesAt === null ? '' : `, goes on at ${minuteIn(timeZone)(new Date(resumesAt))} ${timeZone}`
  const seconds = (Date.parse(finishedAt) - Date.parse(startedAt)) / 1000
  const moving = Object.values(streams).reduce((sum, { slices }) => sum + slices.moving, 0)
  const moved = moving === 0 ? [] : [`${moving} lists moved while they were read; the next run reads them again`]
  return [
    ...(rows.length === 0 ? [] : formatTable(['stream', 'read', ...shown, 'slices'], rows)),
    ...moved,
    ...errors.map(({ message }) => `✗ ${message}`),
    `${status}: ${meanings[status]} (${seconds.toFixed(1)} s${later})`,
  ]
}

/** Prints what a run did, for a person or as the object of `--json`. @returns the exit code */
export function printOutcome(
  context: Pick<CliContext, 'print'>,
  outcome: RunOutcome,
  isJson: boolean,
  timeZone: string,
): number {
  printResult(context, isJson, outcomeObject(outcome), summarize(outcome, timeZone))
  return exitCodeOfStatus(outcome.status)
}
