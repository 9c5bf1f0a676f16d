import type { CallHour } from '../metrics/call-history.ts'
import { type Html, html } from '../html.ts'
import type { JobProgress } from '../progress-board.ts'
import type { Verdict } from '../verdict.ts'
import { chartsSection } from './charts-section.ts'
import { coverageSection } from './coverage-section.ts'
import { figures } from './figures.ts'
import { jobsSection } from './jobs-section.ts'
import { progressSection } from './progress-section.ts'
import { quarantineSection } from './quarantine-section.ts'
import { runsSection } from './runs-section.ts'
import { streamsSection } from './streams-section.ts'
import { unreachableSection, verdictSection } from './verdict-section.ts'
import type { View } from './view.ts'

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
${coverageSection(view)}
${chartsSection(view, hours)}
${runsSection(view)}
${jobsSection(view)}
${quarantineSection(view)}`
}
