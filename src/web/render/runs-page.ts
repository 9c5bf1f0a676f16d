import { addCounts, type Counts, noCounts } from '../../core/outcome.ts'
import { type Proof, proofs } from '../../core/slice.ts'
import type { RunReport } from '../../ledger/run-reports.ts'
import { hasEnded } from '../../ledger/runs.ts'
import { foreign, type Html, html } from '../html.ts'
import { fill } from '../messages.ts'
import { choice, dataTable, link, moment, pagination, proofMarks, section, stateMark, type View } from './view.ts'

/** What of the list is asked for; empty text for no wish. */
export interface RunFilter {
  readonly command: string
  readonly status: string
  /** From 1. */
  readonly page: number
}

/** How a run can stand. */
export const runStates = ['ok', 'partial', 'waiting', 'failed', 'running', 'interrupted'] as const

/** Every run on record, filtered and a page at a time. `queued`: a job that has just been queued. */
export function runsPage(
  view: View,
  filter: RunFilter,
  found: { readonly runs: readonly RunReport[]; readonly hasMore: boolean; readonly commands: readonly string[] },
  queued: string | null,
): Html {
  const { messages } = view
  const { columns, states: names } = messages
  const { command, status, page } = filter
  const commands = found.commands.map((name) => [name, name] as const)
  const statuses = runStates.map((state) => [state, names[state]] as const)
  const note =
    queued !== null &&
    html`<p class="done" role="status">${foreign(fill(messages.actions.queued, { job: queued }))}</p>`
  return html`<h1>${messages.pages.runs}</h1>
${note}
<form class="filter" method="get" action="/runs" role="search">
${choice(view, 'command', columns.command, command, commands)}
${choice(view, 'status', columns.status, status, statuses)}
<button type="submit">${messages.filter.apply}</button>
</form>
${runsSection(view, found.runs, pagination(view, '/runs', { command, status }, page, found.hasMore))}`
}

/** Some runs with their rows and proofs, and what follows them. */
export function runsSection(view: View, runs: readonly RunReport[], more: Html | false): Html {
  const { messages } = view
  const { columns, formats } = messages
  const number = (read: (counts: Counts) => number) => (run: RunReport) => formats.number(read(totalOf(run)))
  // What became of the rows of a run is known when it has ended.
  const atEnd = (read: (counts: Counts) => number) => (run: RunReport) =>
    hasEnded(run) ? formats.number(read(totalOf(run))) : messages.notKnown
  const table = dataTable<RunReport>({
    caption: messages.sections.runs,
    columns: [
      {
        head: columns.run,
        cell: (run) => html`<a href="${link(`/runs/${run.runId}`)}">${run.runId}</a> ${foreign(run.command, 40)}`,
      },
      { head: columns.status, cell: (run) => stateMark(messages, run.status) },
      { head: columns.started, cell: (run) => moment(view, run.startedAt) },
      { head: columns.took, cell: (run) => html`<span class="bound">${took(view, run)}</span>` },
      { head: columns.read, cell: number((counts) => counts.extracted), isNumber: true },
      { head: columns.new, cell: atEnd((counts) => counts.inserted), isNumber: true },
      { head: columns.changed, cell: atEnd((counts) => counts.updated), isNumber: true },
      { head: columns.calls, cell: number((counts) => counts.calls), isNumber: true },
      { head: columns.proof, cell: (run) => proofMarks(messages, slicesOf(run)) },
    ],
    rows: runs,
    empty: messages.empty.runs,
  })
  return section(messages, 'runs', html`${table}${more}`)
}

function totalOf({ streams }: RunReport): Counts {
  return streams.reduce((sum, { counts }) => addCounts(sum, counts), noCounts)
}

function slicesOf({ streams }: RunReport): Readonly<Partial<Record<Proof, number>>> {
  return Object.fromEntries(
    proofs.map((proof) => [proof, streams.reduce((sum, { slices }) => sum + (slices[proof] ?? 0), 0)]),
  )
}

/** What a run took; a dash while it goes on. */
export function took(
  { messages }: View,
  { startedAt, finishedAt }: Pick<RunReport, 'startedAt' | 'finishedAt'>,
): string {
  if (finishedAt === null) return messages.notKnown
  return messages.formats.span(finishedAt.getTime() - startedAt.getTime())
}
