import { type Html, html } from '../html.ts'
import { fill, type Messages } from '../messages.ts'
import type { TimelineDay } from '../timeline.ts'

const WIDTH = 10
const HEIGHT = 24
/** The minimum height of the faulty part. */
const MIN_CAP = 4
/** Every fifth bar has its date below it, as bars stand in rows of 10, 15 or 30. */
const DAYS_PER_DATE = 5

/** Patterns that show without colours what is missing; needed once on a page with bars. */
export const timelinePatterns: Html = html`<svg class="unseen" width="0" height="0" aria-hidden="true"
 focusable="false"><defs>
<pattern id="hatch" width="4" height="4" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
<rect class="hatch-ground" width="4" height="4"/><path class="hatch-line" d="M0 0V4"/></pattern>
<pattern id="dots" width="4" height="4" patternUnits="userSpaceOnUse">
<rect class="dots-ground" width="4" height="4"/><circle class="dots-dot" cx="2" cy="2" r="1"/></pattern>
</defs></svg>`

/** The days of one stream as bars, each with a label for pointer, keyboard and screen reader. */
export function timelineStrip(messages: Messages, streamLabel: string, days: readonly TimelineDay[]): Html {
  const { timeline, formats, days: words } = messages
  const bars = days.map((day, index) => {
    const date = formats.wallDay(day.day)
    // Never round up to 100 %: an incomplete day must not look complete.
    const percent = day.state === 'complete' ? 100 : Math.min(99.9, Math.floor(day.share * 1000) / 10)
    const read = fill(timeline.cell, { day: date, percent: `${percent} %` })
    const label = `${read}${messages.separator}${words[day.state]}`
    const isDated = index % DAYS_PER_DATE === 0 || index === days.length - 1
    const below = isDated && html`<small aria-hidden="true">${date}</small>`
    return html`<li><span class="bar" role="img" tabindex="0" aria-label="${label}">${bar(day)}</span>${below}</li>`
  })
  return html`<ol class="strip" aria-label="${streamLabel}">${bars}</ol>`
}

/** One bar. From the bottom: what is read, then what is faulty, then what is not read yet. */
function bar({ state, share, faulty }: Omit<TimelineDay, 'day'>): Html {
  const hasCap = state === 'problem' || state === 'gap' || state === 'accepted'
  const read = Math.min(Math.round(share * HEIGHT), hasCap ? HEIGHT - MIN_CAP : HEIGHT)
  const cap = hasCap ? Math.min(HEIGHT - read, Math.max(MIN_CAP, Math.round(faulty * HEIGHT))) : 0
  const shape = (name: string, y: number, height: number) =>
    height > 0 && html`<rect class="day ${name}" x="0" y="${y}" width="${WIDTH}" height="${height}"/>`
  const rest = HEIGHT - read - cap
  return html`<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" aria-hidden="true" focusable="false">
${shape('none', 0, rest)}${shape(state, rest, cap)}${shape('complete', HEIGHT - read, read)}</svg>`
}

/** The legend of the bars. */
export function timelineLegend({ days, timeline }: Messages): Html {
  const states = ['complete', 'partial', 'problem', 'gap', 'accepted', 'none'] as const
  const entries = states.map((state) => {
    const share = state === 'complete' ? 1 : state === 'none' ? 0 : 0.6
    return html`<li>${bar({ state, share, faulty: 1 - share })}${days[state]}</li>`
  })
  return html`<ul class="legend" aria-label="${timeline.legend}">${entries}</ul>`
}
