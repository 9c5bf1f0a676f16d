import { wallTimeAt } from '../../core/wall-clock.ts'
import { type Html, html, foreign } from '../html.ts'
import type { Finding, Verdict } from '../verdict.ts'
import { link, streamName, type View, icon, type Tone } from './view.ts'
import type { RunReport } from '../../ledger/run-reports.ts'
import type { Facts } from '../facts.ts'
import type { Messages } from '../messages.ts'
import type { JobProgress } from '../../app/progress-board.ts'

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

/**
 * What is under way: the jobs of this process as they go, else what the record tells of runs of other processes. Empty,
 * but there, while nothing is.
 */
export function progressSection(
  messages: Messages,
  jobs: readonly JobProgress[],
  facts: Pick<Facts, 'runs'> | undefined,
): Html {
  const elsewhere = jobs.length > 0 ? [] : (facts?.runs ?? []).filter(({ status }) => status === 'running')
  if (jobs.length + elsewhere.length === 0) return html`<section id="progress" data-renew hidden></section>`
  return html`<section id="progress" class="part" aria-labelledby="progress-title" data-renew>
<header><h2 id="progress-title">${messages.sections.progress}</h2></header>
${jobs.map((job) => runningJob(messages, job))}${elsewhere.map((run) => runElsewhere(messages, run))}
</section>
`
}

function runningJob(messages: Messages, { job, streams }: JobProgress): Html {
  const { progress, formats } = messages
  const lines = streams.map(({ stream, rows, slices, endedSlices, share }) => {
    const name = messages.streams[stream] ?? stream
    const percent = Math.floor(share * 100)
    return html`<li><span class="name">${name}</span><progress max="100" value="${percent}" aria-label="${name}">${percent} %</progress><span class="facts">${progress.slices(formats.number(endedSlices), formats.number(slices))} · ${progress.rows(formats.number(rows))}</span></li>
`
  })
  return html`<h3>${foreign(progress.title(job))}</h3><ul class="progress">${lines}</ul>`
}

function runElsewhere({ progress, formats, streams: names }: Messages, { command, runId, streams }: RunReport): Html {
  const lines = streams.map(({ stream, counts, slices }) => {
    const ended = Object.values(slices).reduce((sum, count) => sum + count, 0)
    return html`<li><span class="name">${names[stream] ?? stream}</span><span class="facts">${progress.ended(formats.number(ended))} · ${progress.rows(formats.number(counts.extracted))}</span></li>
`
  })
  return html`<h3><a href="/runs/${runId}">${progress.elsewhere(command, runId)}</a></h3><ul class="progress">${lines}</ul>`
}
