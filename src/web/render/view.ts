import { type WallTime, wallTimeAt } from '../../core/wall-clock.ts'
import type { Expectations } from '../expectations.ts'
import type { Facts } from '../facts.ts'
import { type Content, type Html, html } from '../html.ts'
import type { Messages } from '../messages/messages-of.ts'

/** What a part of a page is made from. */
export interface View {
  readonly messages: Messages
  readonly facts: Facts
  readonly nowMs: number
  readonly expectations: Expectations
}

/** A path with parameters; those that are not given are left out. */
export function link(path: string, parameters: Readonly<Record<string, string | undefined>> = {}): string {
  const given = Object.entries(parameters).filter((entry): entry is [string, string] => Boolean(entry[1]))
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given).toString()}`
}

/** A stream as the page calls it. */
export function streamName({ messages }: View, stream: string): string {
  return messages.streams[stream] ?? stream
}

/** A time for people: how long ago or ahead, and below it what the clock of `timeZone` shows. */
export function moment(view: View, at: Date, timeZone: string = view.facts.timeZone): Html {
  const { messages, nowMs } = view
  const distance = at.getTime() - nowMs
  const span = messages.formats.span(Math.abs(distance))
  const words = distance > 0 ? messages.ahead(span) : messages.ago(span)
  const wall = messages.formats.wallTime(wallTimeAt(at.getTime(), timeZone))
  return html`<time class="moment" datetime="${at.toISOString()}"><span>${words}</span> <small>${wall}</small></time>`
}

/** A reading of the service's wall clock, and how long ago that was. */
export function wallMoment(view: View, at: WallTime): Html {
  const { messages, facts } = view
  const span = messages.formats.span(Math.max(0, facts.now - at) * 1000)
  return html`<span class="moment"><span>${messages.formats.wallTime(at)}</span> <small>${messages.ago(span)}</small></span>`
}

/** How many rows, with "about" where it is an estimate. */
export function rowCount({ messages, facts }: View, table: string): string | undefined {
  const size = facts.sizes.get(table)
  if (size === undefined) return undefined
  const { number } = messages.formats
  return size.isExact ? number(size.rows) : messages.about(number(roundTo3(size.rows)))
}

/** An estimate is not worth more than three digits. */
export function roundTo3(value: number): number {
  return Number(value.toPrecision(3))
}

/** A part of a page under its heading. The script renews it as a whole, by its id. `note`: in place of the usual one. */
export function section(
  messages: Messages,
  name: keyof Messages['sections'],
  content: Content,
  note: string = messages.notes[name],
): Html {
  return html`<section id="${name}" class="part" aria-labelledby="${name}-title" data-renew>
<header><h2 id="${name}-title">${messages.sections[name]}</h2>${note !== '' && html`<p class="note">${note}</p>`}</header>
${content}
</section>
`
}
