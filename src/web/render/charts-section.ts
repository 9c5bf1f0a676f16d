import { DAY, formatWallDate, parseWallTime } from '../../core/wall-clock.ts'
import { type Content, type Html, html } from '../html.ts'
import { section, type View } from './view.ts'
import { TIMELINE_DAYS } from '../facts.ts'
import type { CallHour } from '../metrics/status-metrics.ts'

/** One row of numbers under a name, such as a day. */
interface Point {
  readonly name: string
  readonly values: readonly number[]
}

interface ChartSpec {
  readonly id: string
  readonly title: string
  readonly head: string
  /** Of the values of each point. */
  readonly series: readonly string[]
  readonly points: readonly Point[]
  readonly format: (value: number) => string
  /** In place of numbers that are not there. */
  readonly note: string
}

/** Rows, hours watched and calls by day, this process's calls by hour: numbers in tables, which the script draws. */
export function chartsSection(view: View, hours: readonly CallHour[]): Html {
  const { messages, facts } = view
  const { charts, columns, formats, empty } = messages
  const days = lastDays(facts.now)
  const activity = new Map(facts.activity.map((day) => [day.day, day]))
  const watched = new Map((facts.watched ?? []).map((day) => [day.day, day]))
  const byDay = (valuesOf: (day: string) => readonly number[]): readonly Point[] =>
    days.map((day) => ({ name: formats.wallDay(parseWallTime(day) ?? 0), values: valuesOf(day) }))
  const specs: readonly ChartSpec[] = [
    {
      id: 'chart-rows',
      title: charts.rows,
      head: columns.day,
      series: [charts.inserted, charts.updated],
      points: byDay((day) => [activity.get(day)?.inserted ?? 0, activity.get(day)?.updated ?? 0]),
      format: formats.number,
      note: empty.charts,
    },
    {
      id: 'chart-hours',
      title: charts.hours,
      head: columns.day,
      series: [charts.watched],
      points: byDay((day) => [watched.get(day)?.hours ?? 0]),
      format: formats.hours,
      note: facts.watched === undefined ? charts.tooSlow : empty.charts,
    },
    {
      id: 'chart-calls',
      title: charts.calls,
      head: columns.day,
      series: [charts.madeOnce, charts.repeated],
      points: byDay((day) => {
        const { calls = 0, retries = 0 } = activity.get(day) ?? {}
        return [calls - retries, retries]
      }),
      format: formats.number,
      note: empty.charts,
    },
    {
      id: 'chart-recent',
      title: charts.recent,
      head: columns.hour,
      series: [charts.answered, charts.refused, charts.failed],
      points: hours.map(({ hour, answered, refused, failed }) => ({ name: hour, values: [answered, refused, failed] })),
      format: formats.number,
      note: empty.charts,
    },
  ]
  return section(messages, 'charts', html`<div class="charts">${specs.map((spec) => chart(view, spec))}</div>`)
}

function lastDays(now: number): readonly string[] {
  return Array.from({ length: TIMELINE_DAYS }, (_, index) => formatWallDate(now - (TIMELINE_DAYS - 1 - index) * DAY))
}

function chart({ messages }: View, { id, title, head, series, points, format, note }: ChartSpec): Html {
  const isEmpty = points.every(({ values }) => values.every((value) => value === 0))
  const heads = [head, ...series].map((each) => html`<th scope="col">${each}</th>`)
  const cells = (values: readonly number[]): Content =>
    values.map((value) => html`<td class="number" data-value="${Math.round(value * 100) / 100}">${format(value)}</td>`)
  const rows = points.map(
    ({ name, values }) => html`<tr><th scope="row">${name}</th>${cells(values)}</tr>
`,
  )
  const numbers = html`<div class="canvas" hidden></div>
<details><summary>${messages.charts.numbers}</summary><div class="scroll" tabindex="0" role="region" aria-label="${title}"><table class="plain"><caption class="unseen">${title}</caption><thead><tr>${heads}</tr></thead>
<tbody>
${rows}</tbody></table></div></details>`
  return html`<figure class="chart" id="${id}"><figcaption>${title}</figcaption>
${isEmpty ? html`<p class="empty">${note}</p>` : numbers}
</figure>
`
}
