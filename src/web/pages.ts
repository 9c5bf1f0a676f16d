import type { Kysely } from 'kysely'
import type { Clock } from '../core/clock.ts'
import { hasCode, LivehouseError } from '../core/errors.ts'
import type { Log } from '../core/log.ts'
import type { Database } from '../store/database.ts'
import { MOST_OPEN, readOnly } from '../ledger/health.ts'
import { readWalkDays } from '../ledger/latest-readings.ts'
import { readOpenReadings } from '../ledger/open-readings.ts'
import { readRunErrors, readRunReports } from '../ledger/run-reports.ts'
import { LONGEST_ANSWER_MS, within } from './health.ts'
import { type Html, html } from './html.ts'
import { channelPage } from './render/channel-page.ts'
import { channelsPage } from './render/channels-page.ts'
import { overviewPage } from './render/overview-page.ts'
import { unreachableSection, unreadSection } from './render/verdict-section.ts'
import type { View } from './render/view.ts'
import { judge, createExpectations, type RangeOf } from './verdict.ts'
import { type Known, type ReadFacts, type Facts, TIMELINE_DAYS } from './facts.ts'
import type { CallHistory } from './metrics/status-metrics.ts'
import { problemPage } from './render/layout.ts'
import type { Messages } from './messages.ts'
import { runPage } from './render/runs.ts'
import type { ProgressBoard } from '../app/progress-board.ts'

/** What pages are made from. */
export interface PagesDeps {
  readonly db: Kysely<Database>
  readonly clock: Clock
  readonly log: Log
  readonly readFacts: ReadFacts
  readonly board: ProgressBoard
  readonly history: CallHistory
  readonly rangeOf: RangeOf
}

/** The content of a page, to be framed. */
export interface PageContent {
  readonly status: number
  readonly title: string
  readonly content: Html
  readonly facts: Facts | undefined
  readonly isBusy: boolean
}

const DAY_MS = 86_400_000
const MOST_ERRORS = 50
const PART = /^\/(channels|runs)\/([^/]+)$/

/** Makes the page of a path; one that is not there is a page too. */
export async function makePage(
  deps: PagesDeps,
  messages: Messages,
  path: string,
  parameters: URLSearchParams,
): Promise<PageContent> {
  const known = await deps.readFacts()
  const { facts } = known
  if (facts === undefined) return pageOf(503, messages.title, unreachableSection(messages, undefined), undefined)
  const view = { messages, facts, nowMs: deps.clock.now(), expectations: createExpectations(facts, deps.rangeOf) }
  const status = known.error === undefined ? 200 : 503
  if (path === '/') return { ...overview(deps, view, known), status }
  if (path === '/channels') {
    const wish = (name: string) => parameters.get(name) ?? ''
    const page = Math.trunc(Number(wish('page'))) || 1
    const filter = { q: wish('q'), group: wish('group'), state: wish('state'), show: wish('show'), page }
    const list = channelsPage(view, filter)
    return pageOf(status, messages.pages.channels, html`${banner(known, messages)}${list}`, facts)
  }
  const part = await within(deps.clock, LONGEST_ANSWER_MS, partOrError(deps, view, path, known), 'late')
  if (part === undefined) return notFound(messages, facts)
  return part === 'late' ? pageOf(503, messages.title, unreadSection(messages), facts) : part
}

/** `late` as well where the database does not answer; the log has said so when the facts were read, or does now. */
async function partOrError(
  deps: PagesDeps,
  view: View,
  path: string,
  known: Known,
): Promise<PageContent | undefined | 'late'> {
  try {
    return await partOf(deps, view, path)
  } catch (error) {
    if (!(error instanceof LivehouseError) || !error.code.startsWith('db.')) throw error
    if (known.error === undefined && !hasCode(error, 'db.unreachable'))
      deps.log.warn('page.unread', { path, err: error })
    return 'late'
  }
}

function overview(deps: PagesDeps, view: View, { facts, error }: Known): Omit<PageContent, 'status'> {
  const verdict = judge(view.facts, view.expectations)
  const jobs = deps.board.jobs()
  const hours = deps.history.hours(view.facts.timeZone)
  const content = overviewPage(view, { verdict, isReachable: error === undefined, jobs, hours })
  return { title: view.messages.title, content, facts, isBusy: verdict.isRunning || jobs.length > 0 }
}

/** A channel or a run; undefined where there is none of that name. @throws db.… codes */
async function partOf({ db }: PagesDeps, view: View, path: string): Promise<PageContent | undefined> {
  const { facts, messages } = view
  const [, kind, encoded = ''] = PART.exec(path) ?? []
  const id = decode(encoded)
  if (kind === 'channels') {
    const channel = facts.channels.find(({ channelId }) => channelId === id)
    if (channel === undefined) return undefined
    const since = new Date(facts.readAtMs - TIMELINE_DAYS * DAY_MS)
    const readings = await readOnly(db, LONGEST_ANSWER_MS, async (snapshot) => ({
      ...(await readOpenReadings(snapshot, MOST_OPEN, id)),
      walkDays: await readWalkDays(snapshot, since, facts.timeZone, id),
    }))
    return pageOf(200, channel.label ?? channel.name ?? id, channelPage(view, channel, readings), facts)
  }
  if (kind !== 'runs' || !/^\d{1,18}$/.test(id)) return undefined
  return await readOnly(db, LONGEST_ANSWER_MS, async (snapshot) => {
    const [run] = await readRunReports(snapshot, { kind: 'one', runId: id })
    if (run === undefined) return undefined
    const content = runPage(view, run, await readRunErrors(snapshot, id, MOST_ERRORS))
    return { ...pageOf(200, messages.run.title(id), content, facts), isBusy: run.status === 'running' }
  })
}

function pageOf(status: number, title: string, content: Html, facts: Facts | undefined): PageContent {
  return { status, title, content, facts, isBusy: false }
}

function banner({ error, facts }: Known, messages: Messages): Html | false {
  return error !== undefined && unreachableSection(messages, facts)
}

function notFound(messages: Messages, facts: Facts): PageContent {
  return pageOf(404, messages.problems.notFound, problemPage(messages, messages.problems.notFound), facts)
}

/** A path that is no UTF-8 names nothing. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return ''
  }
}
