import type { RunReport } from '../../ledger/run-reports.ts'
import { foreign, type Html, html } from '../html.ts'
import type { Facts } from '../facts.ts'
import type { Messages } from '../messages/messages-of.ts'
import type { JobProgress } from '../progress-board.ts'

/**
 * What is under way: the jobs of this process as they go, else what the record tells of runs of other processes. Empty, but
 * there, while nothing is.
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
