import { addCounts, type Counts, noCounts } from '../../core/outcome.ts'
import { type Proof, proofs } from '../../core/slice.ts'
import type { RunReport, RunError, StreamReport } from '../../ledger/run-reports.ts'
import { foreign, type Html, html, maskValues } from '../html.ts'
import { link, moment, section, type View, proofMarks, stateMark, dataTable, streamName } from './view.ts'
import { streamNames } from '../../streams/registry.ts'

/** One run: what it did to each stream, and its first errors. */
export function runPage(view: View, run: RunReport, errors: readonly RunError[]): Html {
  const { messages } = view
  const { columns } = messages
  const facts = [
    [columns.command, foreign(run.command)],
    [columns.status, stateMark(messages, run.status)],
    [columns.started, moment(view, run.startedAt)],
    [columns.took, took(view, run)],
  ] as const
  const more = run.errorCount - errors.length
  return html`<h1>${messages.run.title(run.runId)}</h1>
<section id="figures" data-renew aria-label="${messages.figures.label}"><dl class="figures">${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl></section>
${streams(view, run)}
${run.errorCount > 0 && section(messages, 'errors', html`${errorTable(view, errors)}${more > 0 && html`<p class="note">${messages.run.moreErrors(messages.formats.number(more))}</p>`}`)}`
}

function streams(view: View, run: RunReport): Html {
  const { messages } = view
  const { columns, formats } = messages
  const number = (head: string, read: (report: StreamReport) => number) => ({
    head,
    cell: (report: StreamReport) => formats.number(read(report)),
    isNumber: true,
  })
  const table = dataTable<StreamReport>({
    caption: messages.sections.streams,
    columns: [
      { head: columns.stream, cell: ({ stream }) => streamName(view, stream) },
      number(columns.read, ({ counts }) => counts.extracted),
      number(columns.new, ({ counts }) => counts.inserted),
      number(columns.changed, ({ counts }) => counts.updated),
      number(columns.unchanged, ({ counts }) => counts.unchanged),
      number(columns.removed, ({ counts }) => counts.removed),
      number(columns.quarantined, ({ counts }) => counts.quarantined),
      number(columns.calls, ({ counts }) => counts.calls),
      { head: columns.slices, cell: ({ slices }) => proofMarks(messages, slices) },
    ],
    rows: run.streams.toSorted((a, b) => placeOf(a.stream) - placeOf(b.stream)),
    empty: messages.empty.streams,
  })
  return section(messages, 'streams', table, '')
}

/** In the order of the contract; what is not known comes last. */
function placeOf(stream: string): number {
  const place = streamNames.findIndex((name) => name === stream)
  return place === -1 ? streamNames.length : place
}

function errorTable(view: View, errors: readonly RunError[]): Html {
  const { messages } = view
  const { columns } = messages
  return dataTable<RunError>({
    caption: messages.sections.errors,
    className: 'worded',
    columns: [
      { head: columns.code, cell: ({ code }) => html`<code>${code}</code>` },
      { head: columns.stream, cell: ({ stream }) => (stream === null ? messages.notKnown : streamName(view, stream)) },
      {
        head: columns.partition,
        cell: ({ partition }) => (partition === null ? messages.notKnown : foreign(partition, 60)),
      },
      {
        head: columns.message,
        cell: ({ message }) => html`<span lang="en">${foreign(maskValues(message), 400)}</span>`,
      },
    ],
    rows: errors,
    empty: messages.empty.errors,
  })
}

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
