import { streamNames } from '../../streams/registry.ts'
import type { RunError, RunReport, StreamReport } from '../../ledger/run-reports.ts'
import { foreign, type Html, html } from '../html.ts'
import { maskValues } from '../mask-values.ts'
import { dataTable } from './data-table.ts'
import { proofMarks, stateMark } from './mark.ts'
import { took } from './runs-section.ts'
import { moment, section, streamName, type View } from './view.ts'

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
