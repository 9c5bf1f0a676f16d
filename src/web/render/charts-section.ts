import { DAY, formatWallDate, formatWallTime, HOUR } from '../../core/wall-clock.ts'
import { streamNames } from '../../streams/registry.ts'
import { CHART_HOURS, TIMELINE_DAYS } from '../facts.ts'
import { type Html, html } from '../html.ts'
import { lastPeriodStarts } from '../timeline.ts'
import { section, streamName, type View } from './view.ts'

interface Point {
  /** The day or hour: `at` of one of the axis's slots. */
  readonly at: string
  readonly series: string
  readonly value: number
}

interface TimeAxis {
  readonly heading: string
  readonly slots: readonly { readonly at: string; readonly label: string }[]
}

/** Rows by stream, hours watched and calls by day, and calls by hour, as tables, from which the script draws charts. */
export function chartsSection(view: View): Html {
  const { messages, facts } = view
  const { charts, columns, empty, formats } = messages
  const lastDays = lastPeriodStarts(facts.now, DAY, TIMELINE_DAYS)
  const daySlots = lastDays.map((at) => ({ at: formatWallDate(at), label: formats.wallDay(at) }))
  const days = { heading: columns.day, slots: daySlots }
  const lastHours = lastPeriodStarts(facts.now, HOUR, CHART_HOURS).map(formatWallTime)
  const hours = { heading: columns.hour, slots: lastHours.map((at) => ({ at, label: at.slice(11, 16) })) }
  // In the order of the registry.
  const rowsWritten = streamNames.flatMap((stream) => {
    const ofStream = facts.activity.filter((each) => each.stream === stream)
    const series = streamName(view, stream)
    return ofStream.map(({ day, inserted, updated }) => ({ at: day, series, value: inserted + updated }))
  })
  const hoursWatched = facts.watched?.map(({ day, hours: sum }) => ({ at: day, series: charts.watched, value: sum }))
  const callPoints = (at: string, { calls: all, retries }: { readonly calls: number; readonly retries: number }) => [
    { at, series: charts.madeOnce, value: all - retries },
    { at, series: charts.repeated, value: retries },
  ]
  const callsByDay = facts.activity.flatMap((each) => callPoints(each.day, each))
  const callsByHour = facts.hourly.flatMap((each) => callPoints(each.hour, each))
  const all = [
    chart(view, 'rows', days, rowsWritten),
    chart(view, 'watched', days, hoursWatched ?? [], hoursWatched ? empty.charts : empty.watched),
    chart(view, 'calls', days, callsByDay),
    chart(view, 'hourly', hours, callsByHour),
  ]
  return section(messages, 'charts', html`<div class="charts">${all}</div>`)
}

function chart(
  { messages }: View,
  name: 'rows' | 'watched' | 'calls' | 'hourly',
  { heading, slots }: TimeAxis,
  points: readonly Point[],
  emptyText = messages.empty.charts,
): Html {
  const { charts, formats } = messages
  const title = charts[name]
  const series = [...new Set(points.flatMap((point) => (point.value > 0 ? point.series : [])))]
  const byCell = Map.groupBy(points, (point) => `${point.at} ${point.series}`)
  const heads = [heading, ...series].map((each) => html`<th scope="col">${each}</th>`)
  const rows = slots.map(({ at, label }) => {
    const cells = series.map((each) => {
      const value = Math.round((byCell.get(`${at} ${each}`) ?? []).reduce((sum, point) => sum + point.value, 0))
      return html`<td class="number" data-value="${value}">${formats.number(value)}</td>`
    })
    return html`<tr><th scope="row">${label}</th>${cells}</tr>
`
  })
  const numbers = html`<div class="canvas" hidden></div>
<details><summary>${charts.numbers}</summary><div class="scroll" tabindex="0" role="region" aria-label="${title}">
<table class="plain"><caption class="unseen">${title}</caption><thead><tr>${heads}</tr></thead>
<tbody>
${rows}</tbody></table></div></details>`
  return html`<figure class="chart" id="chart-${name}"><figcaption>${title}</figcaption>
${series.length === 0 ? html`<p class="empty">${emptyText}</p>` : numbers}
</figure>
`
}
