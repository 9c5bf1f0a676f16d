import { type JudgedUnit, summarizeProgress } from '../../app/judge-health.ts'
import { countProofs, type LedgerUnit } from '../../ledger/latest-readings.ts'
import { isOnlyWhenNamed, streamNames } from '../../streams/registry.ts'
import { type Content, type Html, html } from '../html.ts'
import { fill } from '../messages.ts'
import { timelineOf } from '../timeline.ts'
import { tableSection } from './table.ts'
import { timelineLegend, timelinePatterns, timelineStrip } from './timeline-strip.ts'
import { channelLinks, icon, moment, proofMarks, section, streamName, type View } from './view.ts'

type StreamRow = ReturnType<typeof streamsOf>[number]

/**
 * The streams that are read or have rows, in the order of the registry, of all channels or of one. `outOf`: for a
 * stream that is read only when named, the number of active channels, as the ledger may know fewer; else 0.
 */
export function streamsOf({ facts }: View, channelId?: string) {
  const ofChannel = (unit: LedgerUnit) => channelId === undefined || unit.channelId === channelId
  const active = facts.channels.filter(({ state }) => state === 'active').length
  const groups = Map.groupBy(facts.judged.filter(ofChannel), ({ stream }) => stream)
  return streamNames.flatMap((stream) => {
    const units = groups.get(stream) ?? []
    const hasRows = channelId === undefined && Boolean(facts.sizes.get(stream)?.rows)
    const outOf = channelId === undefined && units.length > 0 && isOnlyWhenNamed(stream) ? active : 0
    return units.length > 0 || hasRows ? [{ stream, units, outOf }] : []
  })
}

/** A table of how fresh and how well proven each stream is. */
export function streamsSection(view: View): Html {
  return tableSection<StreamRow>(view, 'streams', streamsOf(view), [
    ['stream', ({ stream }) => html`${streamName(view, stream)} <code>${stream}</code>`],
    ['rows', ({ stream }) => rowCount(view, [stream])],
    ['lastRead', ({ units }) => lastRead(view, units)],
    ['completeUntil', ({ units, outOf }) => completeUntil(view, units, outOf)],
    ['proof', ({ units }) => proofMarks(view.messages, countProofs(units))],
  ])
}

/** The number of rows of some streams; if one of them is an estimate, text with "about" and three digits. */
export function rowCount({ messages, facts }: View, streams: readonly string[]): number | string {
  const sizes = streams.flatMap((stream) => facts.sizes.get(stream) ?? [])
  if (sizes.length === 0) return messages.notKnown
  const rows = sizes.reduce((sum, size) => sum + size.rows, 0)
  if (sizes.every(({ isExact }) => isExact)) return rows
  return fill(messages.about, { number: messages.formats.number(Number(rows.toPrecision(3))) })
}

/** When any of these parts was last read to its end. */
export function lastRead(view: View, units: readonly LedgerUnit[]): Content {
  const at = lastLanding(units)
  if (at !== undefined) return moment(view, new Date(at))
  return units.some(({ proofs }) => proofs.length > 0) ? view.messages.notToItsEnd : view.messages.never
}

function lastLanding(units: readonly LedgerUnit[]): number | undefined {
  const times = units.flatMap(({ lastLandedAt }) => lastLandedAt?.getTime() ?? [])
  return times.length === 0 ? undefined : Math.max(...times)
}

/** Until when these parts are complete; if only some channels are, how many, and which are not. */
export function completeUntil(view: View, units: readonly JudgedUnit[], outOf = 0): Content {
  const { messages, facts } = view
  const { until, all: knownChannels, behind } = summarizeProgress(units)
  const all = Math.max(knownChannels, outOf)
  const { number, wallTime, span } = messages.formats
  const time = until === undefined ? messages.notKnown : wallTime(until)
  const since = until !== undefined && fill(messages.ago, { span: span(Math.max(0, facts.now - until) * 1000) })
  const ago = since && html` <small>${since}</small>`
  if (behind.length === 0 && knownChannels === all) return html`<span class="moment"><span>${time}</span>${ago}</span>`
  const whole = knownChannels - behind.filter((channelId) => channelId !== null).length
  const counts = { whole: number(whole), all: number(all), time }
  const words = fill(messages.completeUntil[all === 1 ? 'one' : whole === 0 ? 'none' : 'some'], counts)
  if (behind.length === 0) return html`<span class="late"><span>${words}${ago}</span></span>`
  const missing = all > 1 && html`<small>${messages.completeUntil.missing}${channelLinks(view, behind)}</small>`
  return html`<span class="late">${icon('bad')}<span>${words}${ago} ${missing}</span></span>`
}

/** The last days of each stream as bars. */
export function coverageSection(view: View, rows: readonly StreamRow[]): Html {
  const { messages } = view
  const readRows = rows.filter(({ units }) => units.length > 0)
  if (readRows.length === 0) return section(messages, 'coverage', html`<p class="empty">${messages.empty.streams}</p>`)
  const tableRows = readRows.map(
    (row) => html`<tr><th scope="row">${streamName(view, row.stream)}</th><td>${timelineCell(view, row)}</td></tr>
`,
  )
  const heads = [messages.columns.stream, messages.columns.timeline].map((head) => html`<th scope="col">${head}</th>`)
  const table = html`<table class="timeline">
<caption class="unseen">${messages.sections.coverage}</caption>
<thead class="unseen"><tr>${heads}</tr></thead>
<tbody>
${tableRows}</tbody>
</table>`
  return section(messages, 'coverage', html`${timelinePatterns}${table}${timelineLegend(messages)}${openNote(view)}`)
}

/** The bars of a stream and until when it is complete; for whole lists, when they were last read. */
function timelineCell(view: View, { stream, units, outOf }: StreamRow): Html {
  const { messages, facts } = view
  const { completeUntil: words, formats } = messages
  const { behind, all } = summarizeProgress(units)
  if (!units.some(({ isWindowed }) => isWindowed)) {
    const at = lastLanding(units)
    const ago = at !== undefined && fill(messages.ago, { span: formats.span(Math.max(0, view.nowMs - at)) })
    const missing = behind.length > 0 && all > 1 && html` · ${words.missing}${channelLinks(view, behind)}`
    return html`<p class="days">${ago === false ? words.wholeListNever : fill(words.wholeList, { ago })}${missing}</p>`
  }
  const open = facts.open.filter((each) => each.stream === stream)
  const days = timelineOf({ now: facts.now, units, open, rangeOf: facts.rangeOf, outOf })
  const strip = timelineStrip(messages, streamName(view, stream), days)
  const until = behind.length === 0 && all >= outOf && words.until
  return html`${strip}<p class="days">${until}${completeUntil(view, units, outOf)}</p>`
}

/** A note if there are more open issues than the timelines mark. */
function openNote({ messages: { open: words, formats }, facts: { open, openCounts } }: View): Html | false {
  const all = openCounts.problem + openCounts.gap + openCounts.accepted
  const numbers = { marked: formats.number(open.length), all: formats.number(all) }
  return all > open.length && html`<p class="note">${fill(words.unmarked, numbers)}</p>`
}
