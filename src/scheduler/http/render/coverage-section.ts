import { type Html, html } from '../html.ts'
import { timelineOf } from '../timeline.ts'
import { describeDays, timelineAxis, timelineLegend, timelinePatterns, timelineStrip } from './timeline-strip.ts'
import { section } from './section.ts'
import { streamsOf } from './streams-section.ts'
import { streamName, type View } from './view.ts'

/** The last days of each stream as bars. */
export function coverageSection(view: View): Html {
  const { messages, facts } = view
  const { rangeOf } = view.expectations
  const rows = streamsOf(view).map(({ stream, units }) => {
    const open = facts.open.filter((reading) => reading.stream === stream)
    const walkDays = facts.walkDays.filter((walk) => walk.stream === stream)
    return {
      stream,
      days: timelineOf({ now: facts.now, timeZone: facts.timeZone, units, open, walkDays, rangeOf }),
    }
  })
  const [first] = rows
  if (first === undefined) return section(messages, 'coverage', html`<p class="empty">${messages.empty.streams}</p>`)
  const lanes = rows.map(
    ({
      stream,
      days,
    }) => html`<tr><th scope="row">${streamName(view, stream)}</th><td>${timelineStrip(messages, days)}<p class="days">${describeDays(messages, days)}</p></td></tr>
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
${timelineAxis(messages, first.days)}
${timelineLegend(messages)}`,
  )
}
