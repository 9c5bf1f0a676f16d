import type { Finding, Verdict } from '../../app/judge-health.ts'
import { describeError } from '../../core/outcome.ts'
import { wallTimeAt } from '../../core/wall-clock.ts'
import type { RunReport } from '../../ledger/runs/run-reports.ts'
import { rankOf } from '../../streams/registry.ts'
import type { Facts, ReadFailure } from '../facts.ts'
import { type Html, html, isolate, maskMessage } from '../html.ts'
import { fill, type Messages } from '../messages.ts'
import { causeInChinese } from '../words/reasons.ts'
import { channelLinks, icon, streamName, type Tone, type View } from './view.ts'

const tones: Readonly<Record<Verdict['status'], Tone>> = {
  complete: 'good',
  incomplete: 'bad',
  first: 'busy',
  empty: 'calm',
}

/** Says whether last night is complete, and what is missing if it is not. */
export function verdictSection(view: View): Html {
  const { messages } = view
  const { verdict } = view.facts
  const { findings, failedRun, status } = verdict
  const words = messages.verdict
  const items = findings.map((finding) => html`<li>${findingText(view, finding)}</li>`)
  const failedRunItem =
    failedRun &&
    html`<li><a href="/runs/${failedRun.runId}">${isolate(fill(messages.findings.failedRun, failedRun))}</a></li>`
  return banner(
    tones[status],
    words[status],
    html`<p>${verdictText(view)}</p>
${status === 'incomplete' && html`<ul class="findings">${failedRunItem}${items}</ul>`}
${verdict.isRunning && status !== 'first' && html`<p>${words.runningText}</p>`}`,
  )
}

/** Says that the database cannot be read: why, since when, and how old the data below are. */
export function unreachableSection(messages: Messages, outage: ReadFailure, now: number, facts?: Partial<Facts>): Html {
  const { verdict: words, formats, ago } = messages
  const { timeZone, readAtMs } = facts ?? {}
  const timeOf = (at: number) => formats.wallTime(wallTimeAt(at, timeZone ?? 'UTC')) + (timeZone ? '' : ' UTC')
  const span = formats.span(now - outage.sinceMs)
  const since = fill(words.unreachableSince, { time: timeOf(outage.sinceMs), ago: fill(ago, { span }) })
  const { code, message } = describeError(outage.error)
  const reason = errorText(messages, message, code, html`<span lang="en">${isolate(message, 400)}</span>`)
  const dataNote = readAtMs ? fill(words.unreachableText, { time: timeOf(readAtMs) }) : words.unreachablePart
  return banner('bad', words.unreachable, html`<p>${since} ${reason}</p><p>${dataNote}</p>`)
}

/** An error in English: `text`, or the masked message; on a Chinese page after a few words of Chinese. */
export function errorText({ language }: Messages, message: string, code = '', text = maskMessage(message, 400)): Html {
  const cause = language === 'en' ? undefined : causeInChinese(code, message)
  return html`${cause && html`<b>${cause}</b> `}${text}`
}

function banner(tone: Tone, title: string, content: Html): Html {
  return html`<section id="verdict" class="verdict ${tone}" aria-labelledby="verdict-title" data-renew
 aria-live="polite"><div class="sign">${icon(tone)}</div>
<div><h1 id="verdict-title">${title}</h1>
${content}</div>
</section>
`
}

function verdictText({ messages, facts }: View): string {
  const { verdict, formats } = messages
  const { status } = facts.verdict
  if (status !== 'complete') return verdict[`${status}Text`]
  const streams = new Set(facts.units.map(({ stream }) => stream)).size
  const channels = facts.channels.filter(({ state }) => state === 'active').length
  return fill(verdict.completeText, { streams: formats.number(streams), channels: formats.number(channels) })
}

/** What is wrong, and with which channels. */
function findingText(view: View, { kind, streams, channels, since }: Finding): Html {
  const { messages, facts } = view
  const { findings, formats, separator } = messages
  const all = facts.channels.filter(({ state }) => state === 'active').length
  const count = { count: formats.number(channels.length), all: formats.number(all) }
  const text = fill(findings[kind], {
    streams: streams.map((stream) => streamName(view, stream)).join(separator),
    where: channels.length === 0 ? '' : fill(findings.inChannels, count),
    since: since === null ? messages.notKnown : formats.wallTime(since),
  })
  return html`${text}${channelLinks(view, channels)}`
}

/** The progress of all runs under way, in any process; without any, an empty section for the script to renew. */
export function progressSection(view: View, runs: readonly RunReport[]): Html {
  const { sections } = view.messages
  const running = runs.filter(({ status }) => status === 'running')
  if (running.length === 0) return html`<section id="progress" data-renew hidden></section>`
  return html`<section id="progress" class="part" aria-labelledby="progress-title" data-renew>
<header><h2 id="progress-title">${sections.progress}</h2></header>
${running.map((run) => runProgress(view, run))}
</section>
`
}

function runProgress(view: View, { runId, command, startedAt, progress, streams }: RunReport): Html {
  const { messages, nowMs } = view
  const { progress: words, formats } = messages
  const { number } = formats
  const title = isolate(fill(words.title, { command, run: runId }))
  const entries = Object.entries(progress ?? {}).toSorted(([a], [b]) => rankOf(a) - rankOf(b))
  const lines = entries.map(([stream, { rows, parts, endedParts, share }]) => {
    const percent = Math.floor(share * 100)
    const leftMs = share > 0 ? ((nowMs - startedAt.getTime()) / share) * (1 - share) : undefined
    const timeLeft = leftMs === undefined ? words.unknown : fill(words.left, { span: formats.span(leftMs) })
    const facts = [
      fill(words.slices, { ended: number(endedParts), all: number(parts) }),
      fill(words.rows, { rows: number(rows) }),
      ...(share < 1 ? [timeLeft] : []),
    ]
    const name = streamName(view, stream)
    return html`<li><span class="name">${name}</span>
<progress max="100" value="${percent}" aria-label="${name}">${percent} %</progress>
<span class="facts">${facts.join(' · ')}</span></li>
`
  })
  const rowsRead = streams.reduce((sum, { counts }) => sum + counts.extracted, 0)
  const noPlan = html`<p class="facts">${fill(words.rows, { rows: number(rowsRead) })} · ${words.unknown}</p>`
  return html`<h3><a href="/runs/${runId}">${title}</a></h3>
${lines.length === 0 ? noPlan : html`<ul class="progress">${lines}</ul>`}`
}
