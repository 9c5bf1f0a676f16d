import { smallestLeft } from '../../../state/call-budget.ts'
import { type Content, type Html, html } from '../html.ts'
import type { Verdict } from '../verdict.ts'
import { stateMark } from './mark.ts'
import { link, moment, roundTo3, type View, wallMoment } from './view.ts'

/** The numbers that say most. */
export function figures(view: View, verdict: Verdict): Html {
  const { messages, facts } = view
  const { figures: words, formats } = messages
  const active = facts.channels.filter(({ state }) => state === 'active').length
  const gone = facts.channels.filter(({ state }) => state === 'gone').length
  const [run] = facts.runs
  const quarantined = facts.quarantine.reasons.reduce((sum, { items }) => sum + items, 0)
  const next = facts.jobs.flatMap(({ next }) => next ?? []).toSorted((a, b) => a.getTime() - b.getTime())[0]
  const shown: readonly (readonly [string, Content])[] = [
    [
      words.completeUntil,
      verdict.completeUntil === undefined ? messages.notKnown : wallMoment(view, verdict.completeUntil),
    ],
    [
      words.lastRun,
      run === undefined
        ? messages.never
        : html`<span class="pair"><a href="${link(`/runs/${run.runId}`)}">${stateMark(messages, run.status)}</a> ${moment(view, run.finishedAt ?? run.startedAt)}</span>`,
    ],
    ...(next === undefined ? [] : [[words.nextRun, moment(view, next)] as const]),
    [
      words.channels,
      html`<a href="/channels">${formats.number(active)}</a>${gone > 0 && html` <small>${words.goneChannels(formats.number(gone))}</small>`}`,
    ],
    [words.rows, allRows(view)],
    [words.quarantine, html`<a href="#quarantine">${formats.number(quarantined)}${facts.quarantine.isMore && '+'}</a>`],
    [words.budget, words.budgetLeft(formats.number(smallestLeft(facts.budget)), formats.number(facts.budget.budget))],
  ]
  const entries = shown.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)
  return html`<section id="figures" aria-label="${words.label}" data-renew><dl class="figures">${entries}</dl></section>
`
}

function allRows({ messages, facts }: View): string {
  const sizes = [...facts.sizes.values()]
  const rows = sizes.reduce((sum, size) => sum + size.rows, 0)
  const { number } = messages.formats
  return sizes.every(({ isExact }) => isExact) ? number(rows) : messages.about(number(roundTo3(rows)))
}
