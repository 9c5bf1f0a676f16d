import { describeNotice } from '../../app/alerts/describe-cause.ts'
import type { Window } from '../../core/slice.ts'
import { formatWallMinute } from '../../core/wall-clock.ts'
import type { RunError, RunReport } from '../../ledger/runs/run-reports.ts'
import { type RunDetails } from '../../ledger/slices/run-details.ts'
import { type StreamReport } from '../../ledger/slices/slices-of-runs.ts'
import { rankOf } from '../../streams/registry.ts'
import { type Html, html, isolate } from '../html.ts'
import { fill } from '../messages.ts'
import { figureList } from './overview-page.ts'
import { countAtEnd, duration } from './runs-page.ts'
import { type Column, type ListPage, pagination, tableSection } from './table.ts'
import { errorText, progressSection } from './verdict-section.ts'
import {
  actionForm,
  moment,
  proofMark,
  proofMarks,
  section,
  sectionLinks,
  stateMark,
  streamName,
  type View,
} from './view.ts'

interface ShownDetails extends Omit<RunDetails, 'slices'> {
  readonly errors: readonly RunError[]
  readonly slices: ListPage<RunDetails['slices'][number]>
}

/** The page of one run: its settings, progress, what it did to each stream, errors, alerts and slices. */
export function runPage(view: View, run: RunReport, details: ShownDetails): Html {
  const { messages } = view
  const { columns } = messages
  const isRunning = run.status === 'running'
  const lists = { ...details, slices: details.slices.rows, asked: Object.keys(details.asked) }
  const parts = (['errors', 'alerts', 'slices', 'asked'] as const).filter((part) => lists[part].length > 0)
  return html`<h1>${fill(messages.run.title, { runId: run.runId })}</h1>
${sectionLinks(view, ['streams', ...(isRunning ? (['workers'] as const) : []), ...parts])}
${figureList(view, [
  [columns.command, isolate(run.command)],
  [columns.status, stateMark(messages, run.status)],
  [columns.started, moment(view, run.startedAt)],
  [columns.took, duration(view, run)],
])}
${progressSection(view, [run])}
${streamsTable(view, run)}
${isRunning ? workersTable(view, run, details.held) : html`<section id="workers" data-renew hidden></section>`}
${errorsTable(view, run, details.errors)}
${alertsTable(view, run, details.alerts)}
${slicesTable(view, run, details)}
${settingsSection(view, details.asked)}`
}

function streamsTable(view: View, run: RunReport): Html {
  const rows = run.streams.toSorted((a, b) => rankOf(a.stream) - rankOf(b.stream))
  const columns: readonly Column<StreamReport>[] = [
    ['stream', ({ stream }) => streamName(view, stream)],
    ['read', ({ counts }) => counts.extracted],
    ['new', ({ counts }) => countAtEnd(view, run, counts.inserted)],
    ['changed', ({ counts }) => countAtEnd(view, run, counts.updated)],
    ['unchanged', ({ counts }) => countAtEnd(view, run, counts.unchanged)],
    ['removed', ({ counts }) => countAtEnd(view, run, counts.removed)],
    ['quarantined', ({ counts }) => counts.quarantined],
    ['calls', ({ counts }) => counts.calls],
    ['slices', ({ slices }) => proofMarks(view.messages, slices)],
  ]
  return tableSection(view, 'streams', rows, columns, { note: '' })
}

function errorsTable(view: View, run: RunReport, errors: readonly RunError[]): Html {
  const { notKnown } = view.messages
  const columns: readonly Column<RunError>[] = [
    ['code', ({ code }) => html`<code>${code}</code>`],
    ['stream', ({ stream }) => (stream === null ? notKnown : streamName(view, stream))],
    ['partition', ({ partition }) => (partition === null ? notKnown : isolate(partition, 60))],
    ['message', ({ message, code }) => errorText(view.messages, message, code)],
  ]
  return tableSection(view, 'errors', errors, columns, { className: 'worded', leftOut: run.errorCount - errors.length })
}

function alertsTable(view: View, { runId, command, status }: RunReport, alerts: RunDetails['alerts']): Html {
  const textOf = ({ cause, raisedAt: at }: RunDetails['alerts'][number]) => {
    // A standing alert describes the latest run of its command; on this page it must describe this run.
    const isOfLaterRun = cause.kind === 'run' && cause.name === command && cause.runId !== runId
    const ownStatus = status === 'failed' ? status : 'partial'
    const ownCause = isOfLaterRun ? ({ ...cause, runId, status: ownStatus, problems: [] } as const) : cause
    return describeNotice({ event: 'raised', cause: ownCause, at }, view.messages.language)
  }
  const columns: readonly Column<RunDetails['alerts'][number]>[] = [
    ['message', (alert) => isolate(textOf(alert), 400)],
    ['raised', ({ raisedAt }) => moment(view, raisedAt)],
  ]
  return tableSection(view, 'alerts', alerts, columns, { className: 'worded' })
}

function slicesTable(view: View, { runId }: RunReport, { slices }: ShownDetails): Html {
  const columns: readonly Column<RunDetails['slices'][number]>[] = [
    ['stream', ({ stream }) => streamName(view, stream)],
    ['partition', ({ partition }) => isolate(partition, 60)],
    ['range', ({ window }) => rangeText(view, window)],
    ['proof', ({ proof }) => proofMark(view.messages, proof)],
    ['rows', ({ rows }) => rows],
    ['calls', ({ calls }) => calls],
    ['took', (slice) => duration(view, slice)],
  ]
  return tableSection(view, 'slices', slices.rows, columns, { more: pagination(view, `/runs/${runId}`, {}, slices) })
}

/** A range in the service's time; for undefined, the words for a whole list. */
export function rangeText({ messages }: View, window: Window | undefined): Html | string {
  if (window === undefined) return messages.open.wholeList
  const bound = (time: number) => html`<span class="bound">${formatWallMinute(time)}</span>`
  return html`${bound(window.from)} – ${bound(window.to)}`
}

const MAX_HELD = 100

function workersTable(view: View, { runId }: RunReport, held: RunDetails['held']): Html {
  const { actions, formats, notes } = view.messages
  const columns: readonly Column<RunDetails['held'][number]>[] = [
    [
      'partition',
      ({ stream, partition }) => html`${streamName(view, stream)} <small>${isolate(partition, 80)}</small>`,
    ],
    ['worker', ({ holder }) => isolate(holder, 80)],
    ['since', ({ since }) => moment(view, since)],
    ['slices', ({ slices }) => slices],
    ['rows', ({ rows }) => rows],
  ]
  const processes = new Set(held.map(({ holder }) => holder)).size
  const count = { parts: formats.number(held.length), processes: formats.number(processes) }
  const run = html`<input type="hidden" name="run" value="${runId}">`
  return tableSection(view, 'workers', held.slice(0, MAX_HELD), columns, {
    note: held.length === 0 ? '' : fill(notes.workers, count),
    leftOut: held.length - MAX_HELD,
    more: actionForm(view, 'cancel', actions.cancel, run, `livehouse run --cancel ${runId}`),
  })
}

/** The settings of the run, and who started it if that is known. */
function settingsSection({ messages }: View, settings: Readonly<Record<string, unknown>>): Html | false {
  const options = Object.entries(settings).filter(([, value]) => value !== null)
  const entries = options.map(([name, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value, undefined, 1)
    return html`<div><dt><code>${name}</code></dt><dd>${isolate(text, 200)}</dd></div>`
  })
  return entries.length > 0 && section(messages, 'asked', html`<dl class="pairs">${entries}</dl>`)
}
