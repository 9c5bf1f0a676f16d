import { streamNames } from '../../streams/registry.ts'
import { addProofs, type LedgerUnit } from '../../ledger/latest-readings.ts'
import type { OpenReading } from '../../ledger/open-readings.ts'
import { type Content, type Html, html } from '../html.ts'
import { fill } from '../messages.ts'
import { timelineOf } from '../timeline.ts'
import { standingOf } from '../verdict.ts'
import { timelineLegend, timelinePatterns, timelineStrip } from './timeline-strip.ts'
import {
  channelLinks,
  dataTable,
  icon,
  moment,
  proofMarks,
  roundTo3,
  section,
  streamName,
  type View,
  wallAgo,
  wallMoment,
} from './view.ts'

interface StreamRow {
  readonly stream: string
  readonly units: readonly LedgerUnit[]
}

/** The streams that have been read or have rows, in the order of the contract. */
export function streamsOf({ facts, expectations }: View): readonly StreamRow[] {
  const groups = Map.groupBy(expectations.units, ({ stream }) => stream)
  return streamNames.flatMap((stream) => {
    const units = groups.get(stream) ?? []
    return units.length === 0 && !facts.sizes.get(stream)?.rows ? [] : [{ stream, units }]
  })
}

/** How fresh and how proven each stream is. */
export function streamsSection(view: View): Html {
  const { messages } = view
  const { columns, empty } = messages
  const table = dataTable<StreamRow>({
    caption: messages.sections.streams,
    columns: [
      { head: columns.stream, cell: ({ stream }) => html`${streamName(view, stream)} <code>${stream}</code>` },
      { head: columns.rows, cell: ({ stream }) => rowCount(view, [stream]), isNumber: true },
      { head: columns.lastRead, cell: ({ units }) => lastRead(view, units) },
      { head: columns.coveredUntil, cell: ({ units }) => standing(view, units) },
      { head: columns.proof, cell: ({ units }) => proofMarks(messages, addProofs(units)) },
    ],
    rows: streamsOf(view),
    empty: empty.streams,
  })
  return section(messages, 'streams', table)
}

/** The rows of some streams, with "about" where one is an estimate. */
export function rowCount({ messages, facts }: View, streams: readonly string[]): string {
  const sizes = streams.flatMap((stream) => facts.sizes.get(stream) ?? [])
  if (sizes.length === 0) return messages.notKnown
  const rows = sizes.reduce((sum, size) => sum + size.rows, 0)
  const { number } = messages.formats
  const isExact = sizes.every((size) => size.isExact)
  return isExact ? number(rows) : fill(messages.about, { number: number(roundTo3(rows)) })
}

/** When a part of it was last read to its end. */
export function lastRead(view: View, units: readonly LedgerUnit[]): Content {
  const times = units.flatMap(({ lastLandedAt }) => lastLandedAt?.getTime() ?? [])
  if (times.length > 0) return moment(view, new Date(Math.max(...times)))
  return units.some(({ partitions }) => partitions > 0) ? view.messages.notToItsEnd : view.messages.never
}

/** Until when it is there: where that holds for some channels only, for how many, and which are left. */
export function standing(view: View, units: readonly LedgerUnit[]): Content {
  const { messages } = view
  const { until, all, behind } = standingOf(units, view.expectations)
  const time = until === undefined ? messages.notKnown : wallMoment(view, until)
  if (behind.length === 0) return time
  if (all === 1) return html`<span class="late">${icon('bad')}${time}</span>`
  return html`<span class="late">${icon('bad')}<span>${howMany(view, units)}${until !== undefined && html` <small>${wallAgo(view, until)}</small>`} <small>${messages.standing.missing}${channelLinks(view, behind)}</small></span></span>`
}

/** `199 of 200 channels until 22 Nov 2026, 11:49`. */
function howMany({ messages, expectations }: View, units: readonly LedgerUnit[]): string {
  const { until, all, behind } = standingOf(units, expectations)
  const { number, wallTime } = messages.formats
  const time = until === undefined ? messages.notKnown : wallTime(until)
  const whole = all - behind.filter((channelId) => channelId !== null).length
  if (whole === 0) return fill(messages.standing.none, { all: number(all) })
  return fill(messages.standing.some, { whole: number(whole), all: number(all), time })
}

/** The last days of each stream as bars. `open`: of all of them. */
export function coverageSection(view: View, rows: readonly StreamRow[], open: readonly OpenReading[]): Html {
  const { messages } = view
  if (rows.length === 0) return section(messages, 'coverage', html`<p class="empty">${messages.empty.streams}</p>`)
  const lanes = rows
    .filter(({ units }) => units.length > 0)
    .map(
      (row) => html`<tr><th scope="row">${streamName(view, row.stream)}</th><td>${lane(view, row, open)}</td></tr>
`,
    )
  return section(
    messages,
    'coverage',
    html`${timelinePatterns}<table class="timeline">
<caption class="unseen">${messages.sections.coverage}</caption>
<thead class="unseen"><tr><th scope="col">${messages.columns.stream}</th><th scope="col">${messages.columns.timeline}</th></tr></thead>
<tbody>
${lanes}</tbody>
</table>
${timelineLegend(messages)}
${unmarked(view)}`,
  )
}

/** The bars of a stream and until when it is there; of one that is read as whole lists, when that was. */
function lane(view: View, { stream, units }: StreamRow, open: readonly OpenReading[]): Html {
  const { messages, facts, expectations } = view
  const { until, behind, all } = standingOf(units, expectations)
  const missing = behind.length > 0 && all > 1 && html` ${messages.standing.missing}${channelLinks(view, behind)}`
  if (!units.some(({ isWindowed }) => isWindowed)) {
    const times = units.flatMap(({ lastLandedAt }) => lastLandedAt?.getTime() ?? [])
    const { wholeList, wholeListNever } = messages.standing
    const span = messages.formats.span(Math.max(0, view.nowMs - Math.max(...times)))
    const words = times.length === 0 ? wholeListNever : fill(wholeList, { ago: fill(messages.ago, { span }) })
    return html`<p class="days">${words}${missing && html`. ${missing}`}</p>`
  }
  const days = timelineOf({
    now: facts.now,
    units,
    open: open.filter((each) => each.stream === stream),
    rangeOf: expectations.rangeOf,
  })
  const time = until === undefined ? messages.notKnown : messages.formats.wallTime(until)
  const words = behind.length === 0 || all === 1 ? fill(messages.standing.until, { time }) : howMany(view, units)
  return html`${timelineStrip(messages, streamName(view, stream), days)}<p class="days">${words}${missing && html`. ${missing}`}</p>`
}

/** That there are more open points than timelines mark; nothing where all are. */
export function unmarked({ messages: { open: words, formats }, facts: { open, openCounts } }: View): Html | false {
  const all = openCounts.problem + openCounts.gap + openCounts.accepted
  const numbers = { marked: formats.number(open.length), all: formats.number(all) }
  return all > open.length && html`<p class="note">${fill(words.unmarked, numbers)}</p>`
}
