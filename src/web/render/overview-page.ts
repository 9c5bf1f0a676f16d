import { fewestCallsLeft } from '../../ledger/call-budget.ts'
import { streamNames } from '../../streams/registry.ts'
import { MAX_QUARANTINED } from '../facts.ts'
import { type Content, type Html, html } from '../html.ts'
import { fill } from '../messages.ts'
import { chartsSection } from './charts-section.ts'
import { jobsSection } from './jobs-section.ts'
import { reasonsSection } from './quarantine-page.ts'
import { runsSection } from './runs-page.ts'
import { completeUntil, coverageSection, rowCount, streamsOf, streamsSection } from './streams-section.ts'
import { progressSection } from './verdict-section.ts'
import { moment, sectionLinks, stateMark, type View } from './view.ts'

/** Few, because a phone shows each run as a block. */
const LAST_RUNS = 5

/** The first page: the verdict, then the facts that it rests on. */
export function overviewPage(view: View, verdict: Html): Html {
  const { messages, facts } = view
  return html`${verdict}
${sectionLinks(view, ['streams', 'coverage', 'charts', 'runs', 'jobs', 'quarantine'])}
${figures(view)}
${progressSection(view, facts.runs)}
${streamsSection(view)}
${coverageSection(view, streamsOf(view))}
${chartsSection(view)}
${runsSection(view, facts.runs.slice(0, LAST_RUNS), html`<p><a href="/runs">${messages.run.all}</a></p>`)}
${jobsSection(view)}
${reasonsSection(view)}`
}

function figures(view: View): Html {
  const { messages, facts } = view
  const { figures: words, formats } = messages
  const isKept = facts.judged.some((unit) => unit.isKept)
  const countOf = (state: string) => facts.channels.filter((channel) => channel.state === state).length
  const gone = countOf('gone')
  const [run] = facts.runs
  const quarantined = facts.quarantine.reduce((sum, { items }) => sum + items, 0)
  const next = facts.jobs.flatMap(({ next }) => next ?? []).toSorted((a, b) => a.getTime() - b.getTime())[0]
  const calls = { left: formats.number(fewestCallsLeft(facts.budget)), all: formats.number(facts.budget.budget) }
  const rows = rowCount(view, streamNames)
  const entries: readonly (readonly [string, Content])[] = [
    [messages.columns.completeUntil, isKept ? completeUntil(view, facts.judged) : messages.notKnown],
    [
      words.lastRun,
      run === undefined
        ? messages.never
        : html`<span class="pair"><a href="/runs/${run.runId}">${stateMark(messages, run.status)}</a>
${moment(view, run.finishedAt ?? run.startedAt)}</span>`,
    ],
    ...(next === undefined ? [] : [[words.nextRun, moment(view, next)] as const]),
    [
      words.channels,
      html`<a href="/channels">${formats.number(countOf('active'))}</a>
${gone > 0 && html`<small>${fill(words.goneChannels, { count: formats.number(gone) })}</small>`}`,
    ],
    [words.rows, html`${typeof rows === 'number' ? formats.number(rows) : rows} <small>${words.rowsOf}</small>`],
    [
      messages.sections.quarantine,
      html`<a href="/quarantine">${formats.number(quarantined)}${quarantined > MAX_QUARANTINED && '+'}</a>`,
    ],
    [words.budget, fill(words.budgetLeft, calls)],
  ]
  return figureList(view, entries)
}

/** The key figures at the top of a page. */
export function figureList({ messages }: View, entries: readonly (readonly [string, Content])[]): Html {
  const items = entries.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)
  return html`<section id="figures" aria-label="${messages.figures.label}" data-renew>
<dl class="figures">${items}</dl></section>
`
}
