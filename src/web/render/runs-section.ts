import { addCounts, type Counts, noCounts } from '../../core/outcome.ts'
import { type Proof, proofs } from '../../core/slice.ts'
import type { RunReport } from '../../ledger/run-reports.ts'
import { foreign, type Html, html } from '../html.ts'
import { dataTable } from './data-table.ts'
import { proofMarks, stateMark } from './mark.ts'
import { link, moment, section, type View } from './view.ts'

/** The rows of a run over all its streams. */
export function totalOf({ streams }: RunReport): Counts {
  return streams.reduce((sum, { counts }) => addCounts(sum, counts), noCounts)
}

/** The slices of a run by proof, over all its streams. */
export function slicesOf({ streams }: RunReport): Readonly<Partial<Record<Proof, number>>> {
  return Object.fromEntries(
    proofs.map((proof) => [proof, streams.reduce((sum, { slices }) => sum + (slices[proof] ?? 0), 0)]),
  )
}

/** What a run took; a dash while it goes on. */
export function took({ messages }: View, { startedAt, finishedAt }: RunReport): string {
  if (finishedAt === null) return messages.notKnown
  return messages.formats.span(finishedAt.getTime() - startedAt.getTime())
}

/** The last runs with their rows and proofs. */
export function runsSection(view: View): Html {
  const { messages, facts } = view
  const { columns, formats } = messages
  const number = (read: (run: RunReport) => number) => (run: RunReport) => formats.number(read(run))
  const table = dataTable<RunReport>({
    caption: messages.sections.runs,
    columns: [
      {
        head: columns.run,
        cell: (run) => html`<a href="${link(`/runs/${run.runId}`)}">${run.runId}</a> ${foreign(run.command, 40)}`,
      },
      { head: columns.status, cell: (run) => stateMark(messages, run.status) },
      { head: columns.started, cell: (run) => moment(view, run.startedAt) },
      { head: columns.took, cell: (run) => took(view, run) },
      { head: columns.read, cell: number((run) => totalOf(run).extracted), isNumber: true },
      { head: columns.new, cell: number((run) => totalOf(run).inserted), isNumber: true },
      { head: columns.changed, cell: number((run) => totalOf(run).updated), isNumber: true },
      { head: columns.calls, cell: number((run) => totalOf(run).calls), isNumber: true },
      { head: columns.proof, cell: (run) => proofMarks(messages, slicesOf(run)) },
    ],
    rows: facts.runs,
    empty: messages.empty.runs,
  })
  return section(messages, 'runs', table)
}
