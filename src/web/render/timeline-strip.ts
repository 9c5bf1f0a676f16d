import { type Html, html } from '../html.ts'
import type { DayState, TimelineDay } from '../timeline.ts'
import type { Messages } from '../messages.ts'

const WIDTH = 10
const HEIGHT = 24
const GAP = 2

/** Patterns that tell the states apart without their colours; once on each page that has a strip. */
export const timelinePatterns: Html = html`<svg class="unseen" width="0" height="0" aria-hidden="true" focusable="false"><defs>
<pattern id="hatch" width="4" height="4" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect class="hatch-ground" width="4" height="4"/><path class="hatch-line" d="M0 0V4"/></pattern>
<pattern id="dots" width="4" height="4" patternUnits="userSpaceOnUse"><rect class="dots-ground" width="4" height="4"/><circle class="dots-dot" cx="2" cy="2" r="1"/></pattern>
</defs></svg>`

/**
 * The days of one stream or channel as bars, and in words for those who do not see them: how many are complete, and
 * which are not as they should be. `isCompact`: a tenth of the markup, without words on each bar.
 */
export function timelineStrip(messages: Messages, days: readonly TimelineDay[], isCompact = false): Html {
  const width = days.length * (WIDTH + GAP) - GAP
  const bars = isCompact ? compactBars(days) : days.map((day, index) => bar(messages, day, index))
  return html`<svg class="strip" viewBox="0 0 ${width} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${describeDays(messages, days)}">${bars}</svg>`
}

function leftOf(index: number): number {
  return index * (WIDTH + GAP)
}

function heightOf({ state, share }: TimelineDay): number {
  if (state === 'problem' || state === 'gap' || state === 'accepted') return HEIGHT
  return Math.max(state === 'none' ? 2 : 4, Math.round(share * HEIGHT))
}

function notch(x: number): string {
  return `M${x} 0h${WIDTH}l-${WIDTH / 2} 8z`
}

/** Each bar says what it is when one points at it. */
function bar(messages: Messages, day: TimelineDay, index: number): Html {
  const { state, share } = day
  const [x, height] = [leftOf(index), heightOf(day)]
  const { formats, timeline } = messages
  // Not rounded up to 100 %: what is not complete must not look so.
  const percent = `${state === 'complete' ? 100 : Math.min(99, Math.floor(share * 100))} %`
  const title = timeline.cell(formats.wallDay(day.day), messages.days[state], percent)
  const isNotched = state === 'problem'
  return html`<g><title>${title}</title><rect class="ground" x="${x}" y="0" width="${WIDTH}" height="${HEIGHT}"/><rect class="day ${state}" x="${x}" y="${HEIGHT - height}" width="${WIDTH}" height="${height}"/>${isNotched && html`<path class="notch" d="${notch(x)}"/>`}</g>`
}

/** One shape a state, for long lists of strips. */
function compactBars(days: readonly TimelineDay[]): Html {
  const placed = days.map((day, index) => ({ ...day, x: leftOf(index), height: heightOf(day) }))
  const states = [...Map.groupBy(placed, ({ state }) => state)].map(([state, group]) => {
    const shape = group.map(({ x, height }) => `M${x} ${HEIGHT}v-${height}h${WIDTH}v${height}z`).join('')
    return html`<path class="day ${state}" d="${shape}"/>`
  })
  const ground = placed.filter(({ height }) => height < HEIGHT).map(({ x }) => `M${x} 0h${WIDTH}v${HEIGHT}h-${WIDTH}z`)
  const notches = placed.filter(({ state }) => state === 'problem').map(({ x }) => notch(x))
  return html`${ground.length > 0 && html`<path class="ground" d="${ground.join('')}"/>`}${states}${notches.length > 0 && html`<path class="notch" d="${notches.join('')}"/>`}`
}

/** `28 of 30 days complete; gap: 3 Nov`. Days that are not read yet are no news. */
export function describeDays({ formats, timeline, days: words }: Messages, days: readonly TimelineDay[]): string {
  const complete = days.filter(({ state }) => state === 'complete').length
  const marked = (['problem', 'gap', 'accepted'] as const).flatMap((wanted) => {
    const found = spansOf(days, wanted).map(([first, last]) => {
      return first === last ? formats.wallDay(first) : `${formats.wallDay(first)} – ${formats.wallDay(last)}`
    })
    return found.length === 0 ? [] : [timeline.marked(words[wanted], found.join(timeline.separators.days))]
  })
  return [timeline.summary(formats.number(complete), formats.number(days.length)), ...marked].join(
    timeline.separators.states,
  )
}

/** The first and the last of each row of days in one state. */
function spansOf(days: readonly TimelineDay[], wanted: DayState): readonly (readonly [number, number])[] {
  const spans: [number, number][] = []
  days.forEach(({ day, state }, index) => {
    const last = spans.at(-1)
    if (state !== wanted) return
    if (last !== undefined && days[index - 1]?.state === wanted) last[1] = day
    else spans.push([day, day])
  })
  return spans
}

/** What the bars mean. */
export function timelineLegend({ days, timeline }: Messages): Html {
  const states: readonly DayState[] = ['complete', 'partial', 'gap', 'problem', 'accepted', 'none']
  const entries = states.map((state) => {
    const height = state === 'partial' ? 9 : state === 'none' ? 2 : 16
    const notch = state === 'problem' && html`<path class="notch" d="M0 0h10l-5 6z"/>`
    return html`<li><svg viewBox="0 0 10 16" width="10" height="16" aria-hidden="true" focusable="false"><rect class="ground" width="10" height="16"/><rect class="day ${state}" y="${16 - height}" width="10" height="${height}"/>${notch}</svg>${days[state]}</li>`
  })
  return html`<ul class="legend" aria-label="${timeline.legend}">${entries}</ul>`
}

/** The first, the middle and the last day below the bars. */
export function timelineAxis({ formats, timeline }: Messages, days: readonly TimelineDay[]): Html {
  const [first, middle] = [days[0], days[Math.floor(days.length / 2)]]
  if (first === undefined || middle === undefined) return html``
  return html`<div class="axis" aria-hidden="true"><span>${formats.wallDay(first.day)}</span><span>${formats.wallDay(middle.day)}</span><span>${timeline.today}</span></div>`
}
