import { wallTimeAt } from '../../core/wall-clock.ts'
import { type Html, html } from '../html.ts'
import type { Finding, Verdict } from '../verdict.ts'
import { icon, type Tone } from './mark.ts'
import { link, streamName, type View } from './view.ts'

const tones: Readonly<Record<Verdict['status'] | 'unreachable', Tone>> = {
  complete: 'good',
  incomplete: 'bad',
  first: 'busy',
  empty: 'calm',
  unreachable: 'bad',
}

const MOST_FINDINGS = 8

/** The answer that the page begins with. */
export function verdictSection(view: View, verdict: Verdict): Html {
  const { messages } = view
  const { findings, status } = verdict
  const shown = findings.slice(0, MOST_FINDINGS)
  const more = findings.length - shown.length
  const list = findings.length > 0 && status !== 'first' && status !== 'empty'
  return answer(
    tones[status],
    messages.verdict[status],
    html`<p>${textOf(view, verdict)}</p>
${list && html`<ul class="findings">${shown.map((each) => findingItem(view, each))}${more > 0 && html`<li>${messages.verdict.moreFindings(more, messages.formats)}</li>`}</ul>`}
${verdict.isRunning && status !== 'first' && html`<p>${messages.verdict.runningText}</p>`}`,
  )
}

/** The answer while the database is away. `view`: of what was known before; undefined where nothing was. */
export function unreachableSection(messages: View['messages'], facts: View['facts'] | undefined): Html {
  const { verdict, formats } = messages
  const text =
    facts === undefined
      ? verdict.unreachableAtAll
      : verdict.unreachableText(formats.wallTime(wallTimeAt(facts.readAtMs, facts.timeZone)))
  return answer('bad', verdict.unreachable, html`<p>${text}</p>`)
}

/** In place of what a page alone shows, while the database is away. */
export function unreadSection({ verdict }: View['messages']): Html {
  return answer('bad', verdict.unreachable, html`<p>${verdict.unreachablePart}</p>`)
}

function answer(tone: Tone, title: string, content: Html): Html {
  return html`<section id="verdict" class="verdict ${tone}" aria-labelledby="verdict-title" data-renew aria-live="polite">
<div class="sign">${icon(tone)}</div>
<div><h1 id="verdict-title">${title}</h1>
${content}</div>
</section>
`
}

function textOf(view: View, { status }: Verdict): string {
  const { messages, facts } = view
  const { verdict, formats } = messages
  switch (status) {
    case 'complete': {
      const streams = new Set(facts.units.map(({ stream }) => stream)).size
      const channels = facts.channels.filter(({ state }) => state === 'active').length
      return verdict.completeText(streams, channels, formats)
    }
    case 'incomplete':
      return verdict.incompleteText
    case 'first':
      return verdict.firstText
    case 'empty':
      return verdict.emptyText
  }
}

function findingItem(view: View, found: Finding): Html {
  const { messages } = view
  const name = found.kind === 'failedRun' ? '' : streamName(view, found.stream)
  const words = messages.verdict.finding(found, name, messages.formats)
  const target = found.kind === 'failedRun' ? link(`/runs/${found.runId}`) : link('/channels', { show: 'open' })
  return html`<li><a href="${target}">${words}</a></li>`
}
