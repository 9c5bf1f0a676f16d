import { smallestLeft } from '../../ledger/call-budget.ts'
import type { QuarantineReason } from '../../ledger/quarantine-reasons.ts'
import { type Content, foreign, type Html, html, maskValues } from '../html.ts'
import type { Verdict } from '../verdict.ts'
import { chartsSection } from './charts-section.ts'
import { coverageSection, streamsOf, streamsSection } from './streams-section.ts'
import { unreachableSection, verdictSection, progressSection } from './verdict-section.ts'
import { link, moment, roundTo3, section, streamName, type View, wallMoment, stateMark, dataTable } from './view.ts'
import type { JobView } from '../facts.ts'
import type { CallHour } from '../metrics/status-metrics.ts'
import { runsSection } from './runs.ts'
import type { JobProgress } from '../../app/progress-board.ts'

/** What the overview shows beside the facts. */
export interface Overview {
  readonly verdict: Verdict
  readonly isReachable: boolean
  readonly jobs: readonly JobProgress[]
  readonly hours: readonly CallHour[]
}

/** The first page: the answer, then what it rests on. */
export function overviewPage(view: View, { verdict, isReachable, jobs, hours }: Overview): Html {
  return html`${isReachable ? verdictSection(view, verdict) : unreachableSection(view.messages, view.facts)}
${figures(view, verdict)}
${progressSection(view.messages, jobs, view.facts)}
${streamsSection(view)}
${coverageSection(view, streamsOf(view), view.facts.open, view.facts.walkDays)}
${chartsSection(view, hours)}
${runsSection(view)}
${jobsSection(view)}
${quarantineSection(view)}`
}

/** The numbers that say most. */
function figures(view: View, verdict: Verdict): Html {
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

/** Why rows are in quarantine, and how many; never the rows. */
function quarantineSection(view: View): Html {
  const { messages, facts } = view
  const { columns } = messages
  const table = dataTable<QuarantineReason>({
    caption: messages.sections.quarantine,
    columns: [
      {
        head: columns.reason,
        cell: ({ reason }) => html`<span lang="en">${foreign(maskValues(reason), 200)}</span>`,
      },
      { head: columns.stream, cell: ({ stream }) => streamName(view, stream) },
      { head: columns.items, cell: ({ items }) => messages.formats.number(items), isNumber: true },
      { head: columns.lastSeen, cell: ({ lastSeenAt }) => moment(view, lastSeenAt) },
    ],
    rows: facts.quarantine.reasons,
    empty: messages.empty.quarantine,
  })
  return section(messages, 'quarantine', table)
}

/** When each job is due next, and how it ended last. */
function jobsSection(view: View): Html {
  const { messages, facts } = view
  const { columns } = messages
  const table = dataTable<JobView>({
    caption: messages.sections.jobs,
    columns: [
      { head: columns.job, cell: ({ name }) => foreign(name) },
      { head: columns.schedule, cell: ({ cron, timeZone }) => html`<code>${cron}</code> <small>${timeZone}</small>` },
      {
        head: columns.next,
        cell: ({ next, timeZone }) => (next === undefined ? messages.notKnown : moment(view, next, timeZone)),
      },
      {
        head: columns.last,
        cell: ({ last, isRunning, timeZone }) => {
          if (last === undefined) return isRunning ? stateMark(messages, 'running') : messages.never
          const state = isRunning ? 'running' : last.status
          return html`${stateMark(messages, state)} ${moment(view, last.startedAt, timeZone)}`
        },
      },
    ],
    rows: facts.jobs,
    empty: messages.empty.jobs,
  })
  return section(messages, 'jobs', table)
}
