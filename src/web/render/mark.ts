import type { Proof } from '../../core/slice.ts'
import { type Html, html } from '../html.ts'
import type { RunReport } from '../../ledger/run-reports.ts'
import type { Messages } from '../messages/messages-of.ts'

/** The shapes that say the same as the colours. */
export type Tone = 'good' | 'busy' | 'warn' | 'bad' | 'calm'

const icons: Readonly<Record<Tone, Html>> = {
  good: html`<path d="M3 8.5 6.5 12 13 4.5"/>`,
  busy: html`<circle cx="8" cy="8" r="5.5"/><path d="M8 5v3l2 1.5"/>`,
  warn: html`<path d="M8 2.5 14.5 13.5h-13zM8 6.5v3.2M8 11.6v.4"/>`,
  bad: html`<path d="M4 4l8 8M12 4l-8 8"/>`,
  calm: html`<path d="M3.5 8h9"/>`,
}

/** The sign of a tone, for the eye alone: words stand beside it. */
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

/** How a run ended. */
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

/** How many slices or partitions ended with each proof, those that are not green first. */
export function proofMarks(messages: Messages, counts: Readonly<Partial<Record<Proof, number>>>): Html {
  const order = ['failed', 'short', 'accepted', 'moving', 'verified', 'agreed', 'unverifiable'] as const
  const found = new Map<string, number>(Object.entries(counts))
  const marks = order.flatMap((proof) => {
    const count = found.get(proof) ?? 0
    if (count === 0) return []
    const words = `${messages.formats.number(count)} ${messages.proofs[proof]}`
    return [
      html`<span class="mark ${toneOfProof[proof]}" title="${messages.proofMeanings[proof]}">${icon(toneOfProof[proof])}${words}</span> `,
    ]
  })
  return marks.length === 0 ? html`${messages.notKnown}` : html`<span class="marks">${marks}</span>`
}
