import type { Kysely } from 'kysely'
import type { Clock } from '../core/clock.ts'
import { hasCode, LivehouseError } from '../core/errors.ts'
import type { Log } from '../core/log.ts'
import type { Database } from '../store/database.ts'
import { MOST_OPEN, readOnly } from '../ledger/health.ts'
import type { ListedChannel } from '../ledger/channel-states.ts'
import { readOpenReadings } from '../ledger/open-readings.ts'
import { readQuarantinedItems } from '../ledger/quarantine-reasons.ts'
import { readRunDetails } from '../ledger/run-details.ts'
import { readRunErrors, readRunReports } from '../ledger/run-reports.ts'
import { readCommands } from '../ledger/runs.ts'
import { LONGEST_ANSWER_MS, within } from './health.ts'
import { type Html, html } from './html.ts'
import { channelPage } from './render/channel-page.ts'
import { channelsPage } from './render/channels-page.ts'
import { problemPage } from './render/layout.ts'
import { overviewPage } from './render/overview-page.ts'
import { quarantinePage } from './render/quarantine-page.ts'
import { runPage } from './render/run-page.ts'
import { runsPage, runStates } from './render/runs-page.ts'
import { unreachableSection, verdictSection } from './render/verdict-section.ts'
import type { View } from './render/view.ts'
import { judge, createExpectations, type RangeOf } from './verdict.ts'
import type { Facts, ReadFacts } from './facts.ts'
import { fill, type Messages } from './messages.ts'

/** What pages are made from. */
export interface PagesDeps {
  readonly db: Kysely<Database>
  readonly clock: Clock
  readonly log: Log
  readonly readFacts: ReadFacts
  readonly rangeOf: RangeOf
}

/** Which page is asked for, and how. */
export interface PageRequest {
  readonly messages: Messages
  readonly path: string
  readonly parameters: URLSearchParams
  /** What forms of the page have to carry; undefined where nothing can be done from it. */
  readonly csrf: string | undefined
}

/** The content of a page, to be framed. */
export interface PageContent {
  readonly status: number
  readonly title: string
  readonly content: Html
  readonly facts: Facts | undefined
  readonly isBusy: boolean
}

const MOST_ERRORS = 50
const SLICES_PER_PAGE = 30
const RUNS_PER_PAGE = 30
const ITEMS_PER_PAGE = 20
/** Characters of an item in quarantine. */
const RAW_LENGTH = 1500

/** Makes the page of a path; one that is not there is a page too. */
export async function makePage(deps: PagesDeps, request: PageRequest): Promise<PageContent> {
  const { messages, path, parameters, csrf } = request
  const known = await deps.readFacts()
  const { facts, failure } = known
  const nowMs = deps.clock.now()
  if (facts === undefined) return pageOf(503, messages.title, unreachableSection(messages, known, nowMs), undefined)
  const view = { messages, facts, nowMs, csrf, expectations: createExpectations(facts, deps.rangeOf) }
  const status = failure === undefined ? 200 : 503
  const banner = failure && unreachableSection(messages, known, nowMs)
  if (path === '/') {
    const verdict = judge(facts, view.expectations)
    const content = overviewPage(view, banner ?? verdictSection(view, verdict))
    return { ...pageOf(status, messages.title, content, facts), isBusy: verdict.isRunning }
  }
  if (path === '/channels') {
    const wishes = wishesOf(parameters, 'q', 'group', 'state', 'show')
    const list = channelsPage(view, { ...wishes, page: pageNumber(parameters) })
    return pageOf(status, messages.pages.channels, html`${banner}${list}`, facts)
  }
  const read = readerOf(view, request)
  const part = await (read && within(deps.clock, LONGEST_ANSWER_MS, readPart(deps, read), new Error(TOO_LATE)))
  if (part === undefined) {
    const { notFound } = messages.problems
    return pageOf(404, notFound, problemPage(messages, notFound), facts)
  }
  if (!(part instanceof Error)) return part
  // The log has said so when the facts were read, or does now.
  if (failure === undefined && !hasCode(part, 'db.unreachable')) deps.log.warn('page.unread', { path, err: part })
  const away = { facts, failure: failure ?? { error: part, sinceMs: nowMs } }
  const content = unreachableSection(messages, away, nowMs, messages.verdict.unreachablePart)
  return pageOf(503, messages.title, content, facts)
}

const TOO_LATE = `it was not read within ${LONGEST_ANSWER_MS / 1000} s`

/** Reads what one page alone shows; undefined where there is nothing of its name. @throws db.… codes */
type ReadPart = (db: Kysely<Database>) => Promise<PageContent | undefined>

/** The error, where it is the database's. */
async function readPart({ db }: PagesDeps, read: ReadPart): Promise<PageContent | undefined | Error> {
  try {
    return await readOnly(db, LONGEST_ANSWER_MS, read)
  } catch (error) {
    if (error instanceof LivehouseError && error.code.startsWith('db.')) return error
    throw error
  }
}

/** Undefined where there is no such page. */
function readerOf(view: View, { path, parameters }: PageRequest): ReadPart | undefined {
  const [, kind, encoded, ...more] = path.split('/')
  if (more.length > 0) return undefined
  const id = decode(encoded ?? '')
  if (kind === 'channels') {
    const channel = view.facts.channels.find(({ channelId }) => channelId === id)
    return channel && ((db) => channelOf(db, view, channel))
  }
  if (kind === 'runs' && encoded !== undefined)
    return /^\d{1,18}$/.test(id) ? (db) => runOf(db, view, id, pageNumber(parameters)) : undefined
  if (encoded !== undefined) return undefined
  if (kind === 'runs') return (db) => runsOf(db, view, parameters)
  return kind === 'quarantine' ? (db) => quarantineOf(db, view, parameters) : undefined
}

async function runsOf(db: Kysely<Database>, view: View, parameters: URLSearchParams): Promise<PageContent> {
  const page = pageNumber(parameters)
  const wishes = wishesOf(parameters, 'command', 'status')
  const runs = await readRunReports(db, {
    kind: 'last',
    count: RUNS_PER_PAGE + 1,
    skip: (page - 1) * RUNS_PER_PAGE,
    command: wishes.command || undefined,
    status: runStates.find((state) => state === wishes.status),
  })
  const found = { runs: runs.slice(0, RUNS_PER_PAGE), hasMore: runs.length > RUNS_PER_PAGE }
  const commands = await readCommands(db)
  const list = runsPage(view, { ...wishes, page }, { ...found, commands }, parameters.get('queued'))
  return pageOf(200, view.messages.pages.runs, list, view.facts)
}

async function quarantineOf(db: Kysely<Database>, view: View, parameters: URLSearchParams): Promise<PageContent> {
  const page = pageNumber(parameters)
  const wishes = wishesOf(parameters, 'stream')
  const items = await readQuarantinedItems(db, {
    stream: wishes.stream || undefined,
    count: ITEMS_PER_PAGE + 1,
    skip: (page - 1) * ITEMS_PER_PAGE,
    rawLength: RAW_LENGTH,
  })
  const found = { items: items.slice(0, ITEMS_PER_PAGE), hasMore: items.length > ITEMS_PER_PAGE }
  const { quarantine } = view.messages.pages
  return pageOf(200, quarantine, quarantinePage(view, { ...wishes, page }, found), view.facts)
}

async function channelOf(db: Kysely<Database>, view: View, channel: ListedChannel): Promise<PageContent> {
  const { channelId, label, name } = channel
  const readings = await readOpenReadings(db, MOST_OPEN, channelId)
  return pageOf(200, label ?? name ?? channelId, channelPage(view, channel, readings), view.facts)
}

async function runOf(db: Kysely<Database>, view: View, runId: string, page: number): Promise<PageContent | undefined> {
  const [run] = await readRunReports(db, { kind: 'one', runId })
  if (run === undefined) return undefined
  const question = { most: SLICES_PER_PAGE + 1, skip: (page - 1) * SLICES_PER_PAGE }
  const { slices, ...details } = await readRunDetails(db, runId, question)
  const shown = { slices: slices.slice(0, SLICES_PER_PAGE), page, hasMore: slices.length > SLICES_PER_PAGE }
  const errors = await readRunErrors(db, runId, MOST_ERRORS)
  const { title } = view.messages.run
  const content = runPage(view, run, { ...details, ...shown, errors })
  return { ...pageOf(200, fill(title, { runId }), content, view.facts), isBusy: run.status === 'running' }
}

function pageOf(status: number, title: string, content: Html, facts: Facts | undefined): PageContent {
  return { status, title, content, facts, isBusy: false }
}

/** Parameters by name; empty text for those that are not there. */
function wishesOf<Name extends string>(parameters: URLSearchParams, ...names: readonly Name[]) {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- one entry for each of the names
  return Object.fromEntries(names.map((name) => [name, parameters.get(name) ?? ''])) as Record<Name, string>
}

function pageNumber(parameters: URLSearchParams): number {
  const page = Math.trunc(Number(parameters.get('page')))
  return page >= 1 && page < 1_000_000 ? page : 1
}

/** A path that is no UTF-8 names nothing. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return ''
  }
}
