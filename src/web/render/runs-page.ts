import { addCounts, noCounts, type Proof, proofs } from '../../core/slice.ts'
import type { RunReport } from '../../ledger/runs/run-reports.ts'
import { hasEnded } from '../../ledger/runs/runs.ts'
import { type Html, html, isolate } from '../html.ts'
import { fill } from '../messages.ts'
import { type Column, choice, filterForm, type ListPage, pagination, tableSection } from './table.ts'
import { moment, proofMarks, stateMark, type View } from './view.ts'

/** The states of a run. */
export const runStates = ['ok', 'partial', 'waiting', 'failed', 'running', 'interrupted'] as const

/** One page of the runs on record; an empty filter matches all. `queued`: a job that has just been queued. */
export function runsPage(
  view: View,
  { command, status }: { readonly command: string; readonly status: string },
  list: ListPage<RunReport>,
  allCommands: readonly string[],
  queued: string | null,
): Html {
  const { messages } = view
  const { columns, states: names } = messages
  const commands = allCommands.map((name) => [name, name] as const)
  const statuses = runStates.map((state) => [state, names[state]] as const)
  const choices = [
    choice(view, 'command', columns.command, command, commands),
    choice(view, 'status', columns.status, status, statuses),
  ]
  const note =
    queued !== null &&
    html`<p class="done" role="status">${isolate(fill(messages.actions.queued, { job: queued }))}</p>`
  return html`<h1>${messages.pages.runs}</h1>
${note}
${filterForm(view, '/runs', choices)}
${runsSection(view, list.rows, pagination(view, '/runs', { command, status }, list))}`
}

/** A table of runs with their rows and proofs, and `more` below it. */
export function runsSection(view: View, runs: readonly RunReport[], more: Html | false): Html {
  const { messages } = view
  const rows = runs.map((run) => {
    return { ...run, ...run.streams.reduce((sum, { counts }) => addCounts(sum, counts), noCounts) }
  })
  const columns: readonly Column<(typeof rows)[number]>[] = [
    ['run', ({ runId, command }) => html`<a href="/runs/${runId}">${runId}</a> ${isolate(command, 40)}`],
    ['status', ({ status }) => stateMark(messages, status)],
    ['started', ({ startedAt }) => moment(view, startedAt)],
    ['took', (run) => duration(view, run)],
    ['read', ({ extracted }) => extracted],
    ['new', (run) => countAtEnd(view, run, run.inserted)],
    ['changed', (run) => countAtEnd(view, run, run.updated)],
    ['calls', ({ calls }) => calls],
    ['proof', (run) => proofMarks(messages, slicesOf(run))],
  ]
  return tableSection(view, 'runs', rows, columns, { more })
}

/** A count of what became of a run's rows, or a dash: it is known only when the run has ended. */
export function countAtEnd({ messages }: View, run: RunReport, count: number): number | string {
  return hasEnded(run) ? count : messages.notKnown
}

function slicesOf({ streams }: RunReport): Readonly<Partial<Record<Proof, number>>> {
  return Object.fromEntries(
    proofs.map((proof) => [proof, streams.reduce((sum, { slices }) => sum + (slices[proof] ?? 0), 0)]),
  )
}

/** How long a run or slice took; a dash while it is under way. */
export function duration(
  { messages }: View,
  { startedAt, finishedAt }: Pick<RunReport, 'startedAt' | 'finishedAt'>,
): Html | string {
  if (finishedAt === null) return messages.notKnown
  return html`<span class="bound">${messages.formats.span(finishedAt.getTime() - startedAt.getTime())}</span>`
}
