import { describeNotice } from '../../app/alerts/describe-cause.ts'
import type { Counts } from '../../core/outcome.ts'
import { formatWallMinute } from '../../core/wall-clock.ts'
import type { Window } from '../../core/slice.ts'
import type { HeldLease } from '../../ledger/leases.ts'
import type { RaisedAlert, RunDetails, RunSlice } from '../../ledger/run-details.ts'
import type { RunReport, RunError, StreamReport } from '../../ledger/run-reports.ts'
import { hasEnded } from '../../ledger/runs.ts'
import { streamNames } from '../../streams/registry.ts'
import { foreign, type Html, html, maskValues } from '../html.ts'
import { fill } from '../messages.ts'
import { figureList } from './overview-page.ts'
import { took } from './runs-page.ts'
import { progressSection } from './verdict-section.ts'
import {
  dataTable,
  jumps,
  link,
  moment,
  pagination,
  proofMark,
  proofMarks,
  section,
  stateMark,
  streamName,
  type View,
} from './view.ts'

/** What the page of a run shows beside its report. */
export interface ShownDetails extends RunDetails {
  readonly errors: readonly RunError[]
  /** Of its slices, from 1. */
  readonly page: number
  readonly hasMore: boolean
}

/** One run: what was asked for, what it did to each stream, its errors, alerts and slices; while it goes on, how far it is. */
export function runPage(view: View, run: RunReport, details: ShownDetails): Html {
  const { messages } = view
  const { columns } = messages
  const isRunning = run.status === 'running'
  const parts = (['streams', 'errors', 'alerts', 'slices', 'asked'] as const).filter((part) => {
    return part === 'streams' || Object.keys(details[part]).length > 0
  })
  return html`<h1>${fill(messages.run.title, { runId: run.runId })}</h1>
${jumps(view, parts)}
${figureList(view, [
  [columns.command, foreign(run.command)],
  [columns.status, stateMark(messages, run.status)],
  [columns.started, moment(view, run.startedAt)],
  [columns.took, took(view, run)],
])}
${progressSection(view, [run])}
${isRunning && workers(view, details.held)}
${streams(view, run)}
${run.errorCount > 0 && errorSection(view, run, details.errors)}
${alerts(view, details.alerts)}
${slices(view, run, details)}
${asked(view, details.asked)}`
}

function streams(view: View, run: RunReport): Html {
  const { messages } = view
  const { columns, formats } = messages
  const number = (head: string, read: (counts: Counts) => number, isKnown = hasEnded(run)) => ({
    head,
    cell: ({ counts }: StreamReport) => (isKnown ? formats.number(read(counts)) : messages.notKnown),
    isNumber: true,
  })
  const table = dataTable<StreamReport>({
    caption: messages.sections.streams,
    columns: [
      { head: columns.stream, cell: ({ stream }) => streamName(view, stream) },
      number(columns.read, ({ extracted }) => extracted, true),
      number(columns.new, ({ inserted }) => inserted),
      number(columns.changed, ({ updated }) => updated),
      number(columns.unchanged, ({ unchanged }) => unchanged),
      number(columns.removed, ({ removed }) => removed),
      number(columns.quarantined, ({ quarantined }) => quarantined, true),
      number(columns.calls, ({ calls }) => calls, true),
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

function errorSection(view: View, run: RunReport, errors: readonly RunError[]): Html {
  const { messages } = view
  const { columns, notKnown } = messages
  const table = dataTable<RunError>({
    caption: messages.sections.errors,
    className: 'worded',
    columns: [
      { head: columns.code, cell: ({ code }) => html`<code>${code}</code>` },
      { head: columns.stream, cell: ({ stream }) => (stream === null ? notKnown : streamName(view, stream)) },
      { head: columns.partition, cell: ({ partition }) => (partition === null ? notKnown : foreign(partition, 60)) },
      {
        head: columns.message,
        cell: ({ message }) => html`<span lang="en">${foreign(maskValues(message), 400)}</span>`,
      },
    ],
    rows: errors,
    empty: messages.empty.errors,
  })
  const count = messages.formats.number(run.errorCount - errors.length)
  const more = run.errorCount > errors.length && html`<p class="note">${fill(messages.run.moreErrors, { count })}</p>`
  return section(messages, 'errors', html`${table}${more}`)
}

function alerts(view: View, raised: readonly RaisedAlert[]): Html | false {
  const { messages } = view
  const { columns, language } = messages
  const table = dataTable<RaisedAlert>({
    caption: messages.sections.alerts,
    className: 'worded',
    columns: [
      {
        head: columns.message,
        cell: ({ cause, raisedAt }) => foreign(describeNotice({ event: 'raised', cause, at: raisedAt }, language), 400),
      },
      { head: columns.raised, cell: ({ raisedAt }) => moment(view, raisedAt) },
    ],
    rows: raised,
    empty: messages.empty.alerts,
  })
  return raised.length > 0 && section(messages, 'alerts', table)
}

function slices(view: View, { runId }: RunReport, { slices: found, page, hasMore }: ShownDetails): Html | false {
  const { messages } = view
  const { columns, formats } = messages
  const table = dataTable<RunSlice>({
    caption: messages.sections.slices,
    columns: [
      { head: columns.stream, cell: ({ stream }) => streamName(view, stream) },
      { head: columns.partition, cell: ({ partition }) => foreign(partition, 60) },
      { head: columns.range, cell: ({ window }) => rangeText(view, window) },
      { head: columns.proof, cell: ({ proof }) => proofMark(messages, proof) },
      { head: columns.rows, cell: ({ rows }) => formats.number(rows), isNumber: true },
      { head: columns.calls, cell: ({ calls }) => formats.number(calls), isNumber: true },
      { head: columns.took, cell: (slice) => took(view, slice), isNumber: true },
    ],
    rows: found,
    empty: messages.empty.slices,
  })
  const pages = pagination(view, link(`/runs/${runId}`), {}, page, hasMore)
  return found.length > 0 && section(messages, 'slices', html`${table}${pages}`)
}

/** A range of the service's wall clock, or that it is none. */
export function rangeText({ messages }: View, window: Window | undefined): Html | string {
  if (window === undefined) return messages.open.wholeList
  const bound = (time: number) => html`<span class="bound">${formatWallMinute(time)}</span>`
  return html`${bound(window.from)} – ${bound(window.to)}`
}

function workers(view: View, held: readonly HeldLease[]): Html {
  const { messages } = view
  const { columns } = messages
  const table = dataTable<HeldLease>({
    caption: messages.sections.workers,
    columns: [
      { head: columns.partition, cell: ({ name }) => foreign(name, 80) },
      { head: columns.worker, cell: ({ holder }) => foreign(holder, 80) },
      { head: columns.since, cell: ({ since }) => moment(view, since) },
    ],
    rows: held,
    empty: messages.empty.workers,
  })
  return section(messages, 'workers', table)
}

/** The settings of the run, and who asked for it where that is known. */
function asked({ messages }: View, settings: Readonly<Record<string, unknown>>): Html | false {
  const entries = Object.entries(settings).map(([name, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value, undefined, 1)
    return html`<div><dt><code>${name}</code></dt><dd>${foreign(text, 200)}</dd></div>`
  })
  return entries.length > 0 && section(messages, 'asked', html`<dl class="pairs">${entries}</dl>`)
}
