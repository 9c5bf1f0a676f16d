import type { Proof } from '../../core/slice.ts'
import { wallTimeAt } from '../../core/wall-clock.ts'
import type { RunReport } from '../../ledger/runs/run-reports.ts'
import type { Facts } from '../facts.ts'
import { type Content, type Html, html, isolate } from '../html.ts'
import { fill, type Messages } from '../messages.ts'

/** What the parts of a page are rendered from. */
export interface View {
  readonly messages: Messages
  readonly facts: Facts
  readonly nowMs: number
  /** The secret that forms must carry; undefined if the page offers no actions. */
  readonly csrf: string | undefined
}

/** A path with parameters; empty ones are left out. */
export function link(path: string, parameters: Readonly<Record<string, string>>): string {
  const entries = Object.entries(parameters).filter(([, value]) => value !== '')
  return entries.length === 0 ? path : `${path}?${new URLSearchParams(entries).toString()}`
}

/** The name of a stream in the page's language. */
export function streamName({ messages }: View, stream: string): string {
  return messages.streams[stream] ?? stream
}

/** A time: how long ago or ahead it is, and below it the local time in `timeZone`. */
export function moment(view: View, at: Date, timeZone: string = view.facts.timeZone): Html {
  const { messages, nowMs } = view
  const distance = at.getTime() - nowMs
  const span = messages.formats.span(Math.abs(distance))
  const words = fill(distance > 0 ? messages.ahead : messages.ago, { span })
  const wall = messages.formats.wallTime(wallTimeAt(at.getTime(), timeZone))
  return html`<time class="moment" datetime="${at.toISOString()}"><span>${words}</span> <small>${wall}</small></time>`
}

const MAX_LINKS = 3

/** Links to the first few channels, and to the list if there are more. Null is the account, which has no page. */
export function channelLinks({ messages, facts }: View, ids: readonly (string | null)[]): Html {
  const links = ids.slice(0, MAX_LINKS).map((id) => {
    if (id === null) return messages.completeUntil.account
    const { label, name } = facts.channels.find(({ channelId }) => channelId === id) ?? {}
    return html`<a href="/channels/${encodeURIComponent(id)}">${isolate(label ?? name ?? id, 40)}</a>`
  })
  const count = messages.formats.number(ids.length - links.length)
  const more = html`<a href="/channels?show=open">${fill(messages.more, { count })}</a>`
  const all = ids.length > links.length ? [...links, more] : links
  return html`${all.map((one, at) => html`<span class="bound">${one}${all[at + 1] && messages.separator}</span><wbr>`)}`
}

/** A form with its button or, if the page offers no actions, the command that does the same. */
export function actionForm(view: View, path: string, button: Content, fields: Content, command: string): Html | false {
  if (view.csrf === undefined) return lockedNote(view, command)
  return html`<form class="action" method="post" action="/actions/${path}">
<input type="hidden" name="csrf" value="${view.csrf}">${fields}<button type="submit">${button}</button></form>`
}

/** If the page offers no actions: how to do the same from a terminal. */
export function lockedNote({ csrf, messages }: View, command: string): Html | false {
  return csrf === undefined && html`<p class="note">${fill(messages.actions.locked, { command })}</p>`
}

/** A part of a page under its heading. The script renews it as a whole, by its id. `note` replaces the usual one. */
export function section(messages: Messages, name: keyof Messages['sections'], content: Content, note?: string): Html {
  const notes: Readonly<Partial<Record<string, string>>> = messages.notes
  const text = note ?? notes[name] ?? ''
  return html`<section id="${name}" class="part" aria-labelledby="${name}-title" data-renew>
<header><h2 id="${name}-title">${messages.sections[name]}</h2>${text && html`<p class="note">${text}</p>`}</header>
${content}
</section>
`
}

/** Links to the parts of a page, which is long on a phone. */
export function sectionLinks({ messages }: View, parts: readonly (keyof Messages['sections'])[]): Html {
  const links = parts.map((part) => html`<a href="#${part}">${messages.sections[part]}</a>`)
  return html`<nav class="jumps" aria-label="${messages.jump}">${links}</nav>`
}

/** What a colour and its sign mean. */
export type Tone = 'good' | 'busy' | 'warn' | 'bad' | 'calm'

const icons: Readonly<Record<Tone, Html>> = {
  good: html`<path d="M3 8.5 6.5 12 13 4.5"/>`,
  busy: html`<circle cx="8" cy="8" r="5.5"/><path d="M8 5v3l2 1.5"/>`,
  warn: html`<path d="M8 2.5 14.5 13.5h-13zM8 6.5v3.2M8 11.6v.4"/>`,
  bad: html`<path d="M4 4l8 8M12 4l-8 8"/>`,
  calm: html`<path d="M3.5 8h9"/>`,
}

/** The sign of a tone; hidden from screen readers, as there are always words beside it. */
export function icon(tone: Tone): Html {
  return html`<svg class="icon ${tone}" viewBox="0 0 16 16" aria-hidden="true" focusable="false">${icons[tone]}</svg>`
}

/** A word with its sign. */
export function mark(tone: Tone, words: string): Html {
  return html`<span class="mark ${tone}">${icon(tone)}${words}</span>`
}

const toneOfState: Readonly<Record<RunReport['status'], Tone>> = {
  ok: 'good',
  partial: 'warn',
  waiting: 'busy',
  failed: 'bad',
  running: 'busy',
  interrupted: 'warn',
}

/** The status of a run. */
export function stateMark(messages: Messages, state: RunReport['status']): Html {
  return mark(toneOfState[state], messages.states[state])
}

const toneOfProof: Readonly<Record<Proof, Tone>> = {
  verified: 'good',
  agreed: 'good',
  unverifiable: 'calm',
  moving: 'busy',
  accepted: 'warn',
  short: 'bad',
  failed: 'bad',
}

/** The proof of a slice. */
export function proofMark(messages: Messages, proof: Proof): Html {
  return mark(toneOfProof[proof], messages.proofs[proof])
}

/** How many slices or partitions ended with each proof, the gravest first. */
export function proofMarks(messages: Messages, counts: Readonly<Partial<Record<Proof, number>>>): Html {
  const order = ['failed', 'short', 'accepted', 'moving', 'verified', 'agreed', 'unverifiable'] as const
  const marks = order.flatMap((proof) => {
    const count = counts[proof] ?? 0
    const words = `${messages.formats.number(count)} ${messages.proofs[proof]}`
    return count === 0 ? [] : [html`${mark(toneOfProof[proof], words)} `]
  })
  return marks.length === 0 ? html`${messages.notKnown}` : html`<span class="marks">${marks}</span>`
}
