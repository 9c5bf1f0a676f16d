import { streamNames } from '../../streams/registry.ts'
import { addProofs, type LedgerUnit, type WalkDay } from '../../ledger/latest-readings.ts'
import type { OpenReading } from '../../ledger/open-readings.ts'
import { type Content, type Html, html } from '../html.ts'
import { timelineOf } from '../timeline.ts'
import { isLate, isOver } from '../verdict.ts'
import { describeDays, timelineAxis, timelineLegend, timelinePatterns, timelineStrip } from './timeline-strip.ts'
import { moment, rowCount, section, streamName, type View, wallMoment, icon, proofMarks, dataTable } from './view.ts'

interface StreamRow {
  readonly stream: string
  readonly units: readonly LedgerUnit[]
}

/** The streams that have been read, in the order of the contract. */
export function streamsOf({ facts }: View): readonly StreamRow[] {
  const groups = Map.groupBy(facts.units, ({ stream }) => stream)
  return streamNames.flatMap((stream) => {
    const units = groups.get(stream)
    return units === undefined ? [] : [{ stream, units }]
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
      { head: columns.rows, cell: ({ stream }) => rowCount(view, stream) ?? messages.notKnown, isNumber: true },
      { head: columns.lastRead, cell: ({ units }) => lastRead(view, units) },
      { head: columns.coveredUntil, cell: ({ units }) => signedReach(view, units) },
      { head: columns.proof, cell: ({ units }) => proofMarks(messages, addProofs(units)) },
    ],
    rows: streamsOf(view),
    empty: empty.streams,
  })
  return section(messages, 'streams', table)
}

/** When a part of it was last read to its end. */
export function lastRead(view: View, units: readonly LedgerUnit[]): Content {
  const times = units.flatMap(({ lastLandedAt }) => lastLandedAt?.getTime() ?? [])
  return times.length === 0 ? view.messages.never : moment(view, new Date(Math.max(...times)))
}

/** The same with a sign where it is longer ago than it should be. */
export function signedReach(view: View, units: readonly LedgerUnit[]): Content {
  const isOld = units.some((unit) => isLate(view.facts, unit, view.expectations))
  const reach = reachOf(view, units)
  return isOld ? html`<span class="late">${icon('bad')}${reach}</span>` : reach
}

/** Until when the least of its units is there. */
export function reachOf(view: View, units: readonly LedgerUnit[]): Content {
  const { messages } = view
  // What has come to its end says nothing of the others, and a whole list nothing of ranges.
  const windowed = units.filter(({ isWindowed }) => isWindowed)
  const goingOn = windowed.filter((unit) => !isOver(unit, view.expectations))
  const counted = [goingOn, windowed, units].find((some) => some.length > 0) ?? []
  const reaches = counted.map(({ reach }) => reach)
  if (reaches.includes(null) || reaches.length === 0) return messages.notKnown
  return wallMoment(view, Math.min(...reaches.map((reach) => reach ?? Infinity)))
}

/** The last days of each stream as bars. `open`, `walkDays`: of all of them. */
export function coverageSection(
  view: View,
  rows: readonly StreamRow[],
  open: readonly OpenReading[],
  walkDays: readonly WalkDay[],
): Html {
  const { messages, facts, expectations } = view
  if (rows.length === 0) return section(messages, 'coverage', html`<p class="empty">${messages.empty.streams}</p>`)
  const lanes = rows.map(({ stream, units }) => {
    const ofStream = (each: { readonly stream: string }): boolean => each.stream === stream
    const { now, timeZone } = facts
    const { rangeOf } = expectations
    const found = { open: open.filter(ofStream), walkDays: walkDays.filter(ofStream) }
    return { stream, days: timelineOf({ now, timeZone, units, rangeOf, ...found }) }
  })
  const bars = lanes.map(({ stream, days }) => {
    const strip = html`${timelineStrip(messages, days)}<p class="days">${describeDays(messages, days)}</p>`
    return html`<tr><th scope="row">${streamName(view, stream)}</th><td>${strip}</td></tr>
`
  })
  return section(
    messages,
    'coverage',
    html`${timelinePatterns}<table class="timeline">
<caption class="unseen">${messages.sections.coverage}</caption>
<thead class="unseen"><tr><th scope="col">${messages.columns.stream}</th><th scope="col">${messages.columns.timeline}</th></tr></thead>
<tbody>
${bars}</tbody>
</table>
${timelineAxis(messages, lanes[0]?.days ?? [])}
${timelineLegend(messages)}
${unmarked(view)}`,
  )
}

/** That there are more open points than timelines mark; nothing where all are. */
export function unmarked({ messages: { open: words, formats }, facts: { open, openCounts } }: View): Html | false {
  const all = openCounts.problem + openCounts.gap + openCounts.accepted
  return (
    all > open.length && html`<p class="note">${words.unmarked(formats.number(open.length), formats.number(all))}</p>`
  )
}
