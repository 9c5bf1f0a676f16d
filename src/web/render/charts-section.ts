import { DAY, formatWallDate } from '../../core/wall-clock.ts'
import type { DayActivity } from '../../ledger/run-reports.ts'
import { streamNames } from '../../streams/registry.ts'
import { type Html, html } from '../html.ts'
import { section, streamName, type View } from './view.ts'
import { TIMELINE_DAYS } from '../facts.ts'

/** One column of a chart: its name, and what the activity of a stream on a day adds to it. */
interface Series {
  readonly name: string
  readonly valueOf: (activity: DayActivity) => number
}

/** Rows by stream and calls, by day: numbers in tables, which the script draws. */
export function chartsSection(view: View): Html {
  const { messages, facts } = view
  const { charts } = messages
  const written = ({ inserted, updated }: DayActivity) => inserted + updated
  const streams = streamNames.filter((name) => facts.activity.some((each) => each.stream === name && written(each) > 0))
  const rows = streams.map((stream) => {
    return {
      name: streamName(view, stream),
      valueOf: (each: DayActivity) => (each.stream === stream ? written(each) : 0),
    }
  })
  const calls: readonly Series[] = [
    { name: charts.madeOnce, valueOf: (each) => each.calls - each.retries },
    { name: charts.repeated, valueOf: ({ retries }) => retries },
  ]
  const both = html`${chart(view, 'chart-rows', charts.rows, rows)}${chart(view, 'chart-calls', charts.calls, calls)}`
  return section(messages, 'charts', html`<div class="charts">${both}</div>`)
}

function chart({ messages, facts }: View, id: string, title: string, series: readonly Series[]): Html {
  const { charts, columns, empty, formats } = messages
  const activity = Map.groupBy(facts.activity, ({ day }) => day)
  const days = Array.from({ length: TIMELINE_DAYS }, (_, index) => facts.now - (TIMELINE_DAYS - 1 - index) * DAY)
  const heads = [columns.day, ...series.map(({ name }) => name)].map((each) => html`<th scope="col">${each}</th>`)
  const rows = days.map((day) => {
    const ofDay = activity.get(formatWallDate(day)) ?? []
    const cells = series.map(({ valueOf }) => {
      const value = ofDay.reduce((sum, each) => sum + valueOf(each), 0)
      return html`<td class="number" data-value="${value}">${formats.number(value)}</td>`
    })
    return html`<tr><th scope="row">${formats.wallDay(day)}</th>${cells}</tr>
`
  })
  const numbers = html`<div class="canvas" hidden></div>
<details><summary>${charts.numbers}</summary><div class="scroll" tabindex="0" role="region" aria-label="${title}">
<table class="plain"><caption class="unseen">${title}</caption><thead><tr>${heads}</tr></thead>
<tbody>
${rows}</tbody></table></div></details>`
  const isEmpty = !facts.activity.some((each) => series.some(({ valueOf }) => valueOf(each) > 0))
  return html`<figure class="chart" id="${id}"><figcaption>${title}</figcaption>
${isEmpty ? html`<p class="empty">${empty.charts}</p>` : numbers}
</figure>
`
}
