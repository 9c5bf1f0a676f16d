import { describeNotice } from '../../app/alerts/describe-cause.ts'
import { formatWallMinute } from '../../core/wall-clock.ts'
import type { Window } from '../../core/slice.ts'
import { type RunDetails } from '../../ledger/slices/run-details.ts'
import type { RunReport, RunError } from '../../ledger/runs/run-reports.ts'
import { rankOf } from '../../streams/registry.ts'
import { untrusted, type Html, html } from '../html.ts'
import { fill } from '../messages.ts'
import { figureList } from './overview-page.ts'
import { atEnd, took } from './runs-page.ts'
import { errorText, progressSection } from './verdict-section.ts'
import { type Column, type ListPage, pagination, tableSection } from './table.ts'
import {
  actionForm,
  sectionLinks,
  moment,
  proofMark,
  proofMarks,
  section,
  stateMark,
  streamName,
  type View,
} from './view.ts'
import { type StreamReport } from '../../ledger/slices/slices-of-runs.ts'

interface ShownDetails extends Omit<RunDetails, 'slices'> {
  readonly errors: readonly RunError[]
  readonly slices: ListPage<RunDetails['slices'][number]>
}

/** The page of one run: its settings, progress, what it did to each stream, errors, alerts and slices. */
export function runPage(view: View, run: RunReport, details: ShownDetails): Html {
  const { messages } = view
  const { columns } = messages
  const isRunning = run.status === 'running'
  const found = { ...details, slices: details.slices.rows, asked: Object.keys(details.asked) }
  const parts = (['errors', 'alerts', 'slices', 'asked'] as const).filter((part) => found[part].length > 0)
  return html`<h1>${fill(messages.run.title, { runId: run.runId })}</h1>
${sectionLinks(view, ['streams', ...(isRunning ? (['workers'] as const) : []), ...parts])}
${figureList(view, [
  [columns.command, untrusted(run.command)],
  [columns.status, stateMark(messages, run.status)],
  [columns.started, moment(view, run.startedAt)],
  [columns.took, took(view, run)],
])}
${progressSection(view, [run])}
${streams(view, run)}
${isRunning ? workers(view, run, details.held) : html`<section id="workers" data-renew hidden></section>`}
${errors(view, run, details.errors)}
${alerts(view, run, details.alerts)}
${slices(view, run, details)}
${asked(view, details.asked)}`
}

function streams(view: View, run: RunReport): Html | false {
  const rows = run.streams.toSorted((a, b) => rankOf(a.stream) - rankOf(b.stream))
  const columns: readonly Column<StreamReport>[] = [
    ['stream', ({ stream }) => streamName(view, stream)],
    ['read', ({ counts }) => counts.extracted],
    ['new', ({ counts }) => atEnd(view, run, counts.inserted)],
    ['changed', ({ counts }) => atEnd(view, run, counts.updated)],
    ['unchanged', ({ counts }) => atEnd(view, run, counts.unchanged)],
    ['removed', ({ counts }) => atEnd(view, run, counts.removed)],
    ['quarantined', ({ counts }) => counts.quarantined],
    ['calls', ({ counts }) => counts.calls],
    ['slices', ({ slices }) => proofMarks(view.messages, slices)],
  ]
  return tableSection(view, 'streams', rows, columns, { note: '' })
}

function errors(view: View, run: RunReport, found: readonly RunError[]): Html | false {
  const { notKnown } = view.messages
  const columns: readonly Column<RunError>[] = [
    ['code', ({ code }) => html`<code>${code}</code>`],
    ['stream', ({ stream }) => (stream === null ? notKnown : streamName(view, stream))],
    ['partition', ({ partition }) => (partition === null ? notKnown : untrusted(partition, 60))],
    ['message', ({ message, code }) => errorText(view.messages, message, code)],
  ]
  return tableSection(view, 'errors', found, columns, { className: 'worded', left: run.errorCount - found.length })
}

function alerts(view: View, { runId, command, status }: RunReport, raised: RunDetails['alerts']): Html | false {
  const textOf = ({ cause, raisedAt: at }: RunDetails['alerts'][number]) => {
    // A standing alert describes the latest run of its command; on this page it must describe this run.
    const isOfLater = cause.kind === 'run' && cause.name === command && cause.runId !== runId
    const how = status === 'failed' ? status : 'partial'
    const here = isOfLater ? ({ ...cause, runId, status: how, problems: [] } as const) : cause
    return describeNotice({ event: 'raised', cause: here, at }, view.messages.language)
  }
  const columns: readonly Column<RunDetails['alerts'][number]>[] = [
    ['message', (alert) => untrusted(textOf(alert), 400)],
    ['raised', ({ raisedAt }) => moment(view, raisedAt)],
  ]
  return tableSection(view, 'alerts', raised, columns, { className: 'worded' })
}

function slices(view: View, { runId }: RunReport, { slices: found }: ShownDetails): Html | false {
  const columns: readonly Column<RunDetails['slices'][number]>[] = [
    ['stream', ({ stream }) => streamName(view, stream)],
    ['partition', ({ partition }) => untrusted(partition, 60)],
    ['range', ({ window }) => rangeText(view, window)],
    ['proof', ({ proof }) => proofMark(view.messages, proof)],
    ['rows', ({ rows }) => rows],
    ['calls', ({ calls }) => calls],
    ['took', (slice) => took(view, slice)],
  ]
  return tableSection(view, 'slices', found.rows, columns, { more: pagination(view, `/runs/${runId}`, {}, found) })
}

/** A range in the service's time; for undefined, the words for a whole list. */
export function rangeText({ messages }: View, window: Window | undefined): Html | string {
  if (window === undefined) return messages.open.wholeList
  const bound = (time: number) => html`<span class="bound">${formatWallMinute(time)}</span>`
  return html`${bound(window.from)} – ${bound(window.to)}`
}

const MOST_HELD = 100

function workers(view: View, { runId }: RunReport, held: RunDetails['held']): Html | false {
  const { actions, formats, notes } = view.messages
  const columns: readonly Column<RunDetails['held'][number]>[] = [
    [
      'partition',
      ({ stream, partition }) => html`${streamName(view, stream)} <small>${untrusted(partition, 80)}</small>`,
    ],
    ['worker', ({ holder }) => untrusted(holder, 80)],
    ['since', ({ since }) => moment(view, since)],
    ['slices', ({ slices }) => slices],
    ['rows', ({ rows }) => rows],
  ]
  const processes = new Set(held.map(({ holder }) => holder)).size
  const count = { parts: formats.number(held.length), processes: formats.number(processes) }
  const run = html`<input type="hidden" name="run" value="${runId}">`
  return tableSection(view, 'workers', held.slice(0, MOST_HELD), columns, {
    note: held.length === 0 ? '' : fill(notes.workers, count),
    left: held.length - MOST_HELD,
    more: actionForm(view, 'cancel', actions.cancel, run, `livehouse run --cancel ${runId}`),
  })
}

/** The settings of the run, and who started it if that is known. */
function asked({ messages }: View, settings: Readonly<Record<string, unknown>>): Html | false {
  const given = Object.entries(settings).filter(([, value]) => value !== null)
  const entries = given.map(([name, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value, undefined, 1)
    return html`<div><dt><code>${name}</code></dt><dd>${untrusted(text, 200)}</dd></div>`
  })
  return entries.length > 0 && section(messages, 'asked', html`<dl class="pairs">${entries}</dl>`)
}
