import { MAX_OPEN, readOnly } from '../app/read-health.ts'
import { within } from '../core/clock.ts'
import { hasCode, LivehouseError } from '../core/errors.ts'
import { decodePercent } from '../core/text.ts'
import type { ListedChannel } from '../ledger/channels.ts'
import { readOpenReadings } from '../ledger/open-readings.ts'
import { readShownItems } from '../ledger/quarantine/quarantine-reasons.ts'
import { readRunErrors, readRunReports } from '../ledger/runs/run-reports.ts'
import { readCommands } from '../ledger/runs/runs.ts'
import { readRunDetails } from '../ledger/slices/run-details.ts'
import type { Db } from '../store/database.ts'
import { ANSWER_TIMEOUT_MS, type Facts, type FactsDeps, type ReadFacts } from './facts.ts'
import { type Html, html } from './html.ts'
import { fill, type Messages } from './messages.ts'
import { channelPage } from './render/channel-page.ts'
import { channelsPage } from './render/channels-page.ts'
import { problemPage } from './render/layout.ts'
import { overviewPage } from './render/overview-page.ts'
import { quarantinePage } from './render/quarantine-page.ts'
import { runPage } from './render/run-page.ts'
import { runStates, runsPage } from './render/runs-page.ts'
import type { ListPage } from './render/table.ts'
import { unreachableSection, verdictSection } from './render/verdict-section.ts'
import type { View } from './render/view.ts'

interface PagesDeps extends Pick<FactsDeps, 'db' | 'clock' | 'log'> {
  readonly readFacts: ReadFacts
}

/** A request for a page. */
export interface PageRequest {
  readonly messages: Messages
  readonly path: string
  readonly parameters: URLSearchParams
  /** The secret that forms must carry; undefined if the page offers no actions. */
  readonly csrf: string | undefined
}

/** The content of a page, without its header and footer. */
export interface PageContent {
  readonly status: number
  /** The project's name if not given. */
  readonly title?: string
  readonly content: Html
  /** Undefined if the page shows no data. */
  readonly facts?: Facts | undefined
  /** Whether a run is under way, so that the script renews the page more often. */
  readonly isBusy?: boolean
}

const MAX_ERRORS = 50
/** How many runs, slices or rows in quarantine a page lists. */
const PAGE_SIZE = 30
/** How many characters of a row in quarantine are shown. */
const RAW_LENGTH = 1500
const TOO_LATE = `reading took longer than ${ANSWER_TIMEOUT_MS / 1000} s`

/** Makes the page of a path; for an unknown path, a page that says so. */
export async function makePage(deps: PagesDeps, request: PageRequest): Promise<PageContent> {
  const { messages, path, parameters, csrf } = request
  const { facts, failure } = await deps.readFacts()
  const nowMs = deps.clock.now()
  const banner = failure && unreachableSection(messages, failure, nowMs, facts)
  if (facts === undefined) return { status: 503, content: html`${banner}` }
  const common = { status: failure === undefined ? 200 : 503, facts }
  const view = { messages, facts, nowMs, csrf }
  if (path === '/')
    return { ...common, content: overviewPage(view, banner ?? verdictSection(view)), isBusy: facts.verdict.isRunning }
  if (path === '/channels') {
    const [q, show] = [parameters.get('q') ?? '', parameters.get('show') ?? '']
    const list = channelsPage(view, { q, show, page: pageNumber(parameters) })
    return { ...common, title: messages.pages.channels, content: html`${banner}${list}` }
  }
  const read = findReader(view, request)
  const part = await (read && within(deps.clock, ANSWER_TIMEOUT_MS, readPart(deps, read), new Error(TOO_LATE)))
  if (part === undefined) {
    const { notFound } = messages.problems
    return { ...common, status: 404, title: notFound, content: problemPage(messages, notFound) }
  }
  if (!(part instanceof Error)) return { ...common, status: 200, ...part }
  // If reading the facts failed too, the log has that already.
  if (failure === undefined && !hasCode(part, 'db.unreachable')) deps.log.warn('page.unread', { path, err: part })
  const outage = failure ?? { error: part, sinceMs: nowMs }
  return { ...common, status: 503, content: unreachableSection(messages, outage, nowMs, { timeZone: facts.timeZone }) }
}

type Part = Omit<PageContent, 'status' | 'facts'>

/** Reads the content of a page; undefined if the run or channel does not exist. @throws db.… codes */
type ReadPart = (db: Db) => Promise<Part | undefined>

/** Reads a part; returns an error of the database instead of throwing it. */
async function readPart({ db }: PagesDeps, read: ReadPart): Promise<Part | undefined | Error> {
  try {
    return await readOnly(db, ANSWER_TIMEOUT_MS, read)
  } catch (error) {
    if (error instanceof LivehouseError && error.code.startsWith('db.')) return error
    throw error
  }
}

function findReader(view: View, { path, parameters }: PageRequest): ReadPart | undefined {
  if (path === '/runs') return (db) => readRuns(db, view, parameters)
  if (path === '/quarantine') return (db) => readQuarantine(db, view, parameters)
  const [, kind, encoded = ''] = /^\/(channels|runs)\/([^/]+)$/.exec(path) ?? []
  const id = decodePercent(encoded) ?? ''
  if (kind === 'runs') return /^\d{1,18}$/.test(id) ? (db) => readRun(db, view, id, pageNumber(parameters)) : undefined
  const channel = kind && view.facts.channels.find(({ channelId }) => channelId === id)
  return channel ? (db) => readChannel(db, view, channel) : undefined
}

async function readRuns(db: Db, view: View, parameters: URLSearchParams): Promise<Part> {
  const [command, status] = [parameters.get('command') ?? '', parameters.get('status') ?? '']
  const filter = { command: command || undefined, status: runStates.find((state) => state === status) }
  const list = await readListPage(parameters, (bounds) => readRunReports(db, { ...bounds, ...filter }))
  const content = runsPage(view, { command, status }, list, await readCommands(db), parameters.get('queued'))
  return { title: view.messages.pages.runs, content }
}

async function readQuarantine(db: Db, view: View, parameters: URLSearchParams): Promise<Part> {
  const stream = parameters.get('stream') ?? ''
  const list = await readListPage(parameters, (bounds) =>
    readShownItems(db, { ...bounds, stream: stream || undefined, rawLength: RAW_LENGTH }),
  )
  return { title: view.messages.pages.quarantine, content: quarantinePage(view, stream, list) }
}

async function readChannel(db: Db, view: View, channel: ListedChannel): Promise<Part> {
  const readings = await readOpenReadings(db, MAX_OPEN, channel.channelId)
  return { title: channel.label ?? channel.name ?? channel.channelId, content: channelPage(view, channel, readings) }
}

async function readRun(db: Db, view: View, runId: string, page: number): Promise<Part | undefined> {
  const [run] = await readRunReports(db, { runId, count: 1 })
  if (run === undefined) return undefined
  const details = await readRunDetails(db, runId, { limit: PAGE_SIZE + 1, skip: (page - 1) * PAGE_SIZE })
  const errors = await readRunErrors(db, runId, MAX_ERRORS)
  const content = runPage(view, run, { ...details, slices: toListPage(details.slices, page), errors })
  return { title: fill(view.messages.run.title, { runId }), content, isBusy: run.status === 'running' }
}

/** Reads the requested page of a list, with one more row to see whether another page follows. */
async function readListPage<Row>(
  parameters: URLSearchParams,
  read: (bounds: { readonly count: number; readonly skip: number }) => Promise<readonly Row[]>,
): Promise<ListPage<Row>> {
  const page = pageNumber(parameters)
  return toListPage(await read({ count: PAGE_SIZE + 1, skip: (page - 1) * PAGE_SIZE }), page)
}

function toListPage<Row>(rows: readonly Row[], page: number): ListPage<Row> {
  return { rows: rows.slice(0, PAGE_SIZE), page, hasMore: rows.length > PAGE_SIZE }
}

function pageNumber(parameters: URLSearchParams): number {
  const page = Math.trunc(Number(parameters.get('page')))
  return page >= 1 && page < 1_000_000 ? page : 1
}
