import { DAY, formatWallDate, parseWallTime } from '../../core/wall-clock.ts'
import { streamNames } from '../../streams/registry.ts'
import { type Content, type Html, html } from '../html.ts'
import { section, streamName, type View } from './view.ts'
import { TIMELINE_DAYS } from '../facts.ts'

interface ChartSpec {
  readonly id: string
  readonly title: string
  /** Of the values of each day. */
  readonly series: readonly string[]
  readonly days: readonly { readonly name: string; readonly values: readonly number[] }[]
}

/** Rows by stream and calls, by day: numbers in tables, which the script draws. */
export function chartsSection(view: View): Html {
  const { messages, facts } = view
  const { charts, formats } = messages
  const activity = Map.groupBy(facts.activity, ({ day }) => day)
  const written = new Set(facts.activity.flatMap((each) => (each.inserted + each.updated > 0 ? [each.stream] : [])))
  const streams = streamNames.filter((stream) => written.has(stream))
  const byDay = (valuesOf: (ofDay: typeof facts.activity) => readonly number[]): ChartSpec['days'] =>
    lastDays(facts.now).map((day) => ({
      name: formats.wallDay(parseWallTime(day) ?? 0),
      values: valuesOf(activity.get(day) ?? []),
    }))
  const rows = {
    id: 'chart-rows',
    title: charts.rows,
    series: streams.map((stream) => streamName(view, stream)),
    days: byDay((ofDay) =>
      streams.map((stream) =>
        ofDay.reduce((sum, each) => sum + (each.stream === stream ? each.inserted + each.updated : 0), 0),
      ),
    ),
  }
  const calls = {
    id: 'chart-calls',
    title: charts.calls,
    series: [charts.madeOnce, charts.repeated],
    days: byDay((ofDay) => {
      const retries = ofDay.reduce((sum, each) => sum + each.retries, 0)
      return [ofDay.reduce((sum, each) => sum + each.calls, 0) - retries, retries]
    }),
  }
  return section(messages, 'charts', html`<div class="charts">${[rows, calls].map((spec) => chart(view, spec))}</div>`)
}

function lastDays(now: number): readonly string[] {
  return Array.from({ length: TIMELINE_DAYS }, (_, index) => formatWallDate(now - (TIMELINE_DAYS - 1 - index) * DAY))
}

function chart({ messages }: View, { id, title, series, days }: ChartSpec): Html {
  const { charts, columns, empty, formats } = messages
  const isEmpty = days.every(({ values }) => values.every((value) => value === 0))
  const heads = [columns.day, ...series].map((each) => html`<th scope="col">${each}</th>`)
  const cells = (values: readonly number[]): Content =>
    values.map((value) => html`<td class="number" data-value="${value}">${formats.number(value)}</td>`)
  const rows = days.map(
    ({ name, values }) => html`<tr><th scope="row">${name}</th>${cells(values)}</tr>
`,
  )
  const numbers = html`<div class="canvas" hidden></div>
<details><summary>${charts.numbers}</summary><div class="scroll" tabindex="0" role="region" aria-label="${title}"><table class="plain"><caption class="unseen">${title}</caption><thead><tr>${heads}</tr></thead>
<tbody>
${rows}</tbody></table></div></details>`
  return html`<figure class="chart" id="${id}"><figcaption>${title}</figcaption>
${isEmpty ? html`<p class="empty">${empty.charts}</p>` : numbers}
</figure>
`
}
