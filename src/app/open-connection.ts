import assert from 'node:assert/strict'
import { planBi, publishBi } from '../bi/publish/publish-bi.ts'
import type { Clock } from '../core/clock.ts'
import { type WallTime, wallTimeAt } from '../core/wall-clock.ts'
import { callBudget } from '../ledger/call-budget.ts'
import { createSharedPace } from '../ledger/shared-pace.ts'
import { createSharedTokenStore } from '../ledger/shared-token-store.ts'
import { checkSource, claimSource, readSourceFacts } from '../ledger/source.ts'
import { type Connection, type ConnectOptions, connect } from '../service/connect.ts'
import { createPace } from '../service/pace.ts'
import { MAX_CLOCK_DIFFERENCE_SECONDS } from '../service/service-clock.ts'
import type { Db } from '../store/database.ts'
import { allStreams } from '../streams/registry.ts'
import type { AppContext } from './context.ts'
import type { ExtractionSettings, ServiceSettings } from './settings.ts'

type Additions = Partial<Pick<ConnectOptions, 'longestRefusedMs' | 'reserve' | 'onFirstPage' | 'onExchange' | 'onCall'>>

/** How long to repeat a call after 429 while a user waits for it. */
export const WATCHED_REFUSED_MS = 5000

/**
 * Creates a client for the service. It shares fetched tokens and the rate of calls with all processes that use `db`;
 * without a database, it shares neither.
 */
export function openConnection(
  { clock, log, addSecret, redact }: AppContext,
  service: ServiceSettings,
  db: Db | undefined,
  additions: Additions = {},
): Connection {
  const stream =
    allStreams.find(({ partitionedBy }) => partitionedBy === 'account') ?? assert.fail('no list of the account')
  const options = { ...service, clock, log, addSecret, redact, accountList: { stream, partition: {} }, ...additions }
  if (db === undefined) return connect(options)
  const { authUrl, appId, appSecret, baseUrl, maxCallsPerSecond } = service
  const hasCredentials = authUrl !== null && appId !== null && appSecret !== null
  return connect({
    ...options,
    pace: createPace(createSharedPace(db, new URL(baseUrl).host, clock), maxCallsPerSecond, clock),
    ...(hasCredentials ? { tokenStore: createSharedTokenStore(db, { authUrl, appId, appSecret, clock }) } : {}),
  })
}

/** The settings of a process that reads rows. */
export type RunSettings = Pick<ExtractionSettings, 'service' | 'database'>

/**
 * Creates a client for a run, with the daily call budget of version 1 and the findings of `probe`. The first page that
 * it reads makes the service the source of the database.
 * @throws db.otherSource
 */
export async function openRunConnection(
  context: AppContext,
  settings: RunSettings,
  db: Db,
  additions: Pick<Additions, 'onCall'> = {},
): Promise<Connection> {
  const reserve = callBudget(db, settings.service, context.clock)
  const onFirstPage = await claimOnFirstPage(context, settings, db)
  const service = await withKnownListParams(settings.service, db)
  return openConnection(context, service, db, { ...additions, reserve, onFirstPage })
}

/**
 * Returns a function that records the service as the source of the database and sets the analysts' views to its time
 * zone; undefined if that is on record already.
 * @throws db.otherSource
 */
export async function claimOnFirstPage(context: AppContext, { service, database }: RunSettings, db: Db) {
  const recorded = await checkSource(db, service)
  if (recorded && (service.appId === null || recorded.appId === service.appId)) return undefined
  return async (): Promise<void> => {
    await claimSource(db, service)
    const { notice } = database.isAutoMigrated ? await publishBi(db, { signal: context.signal }) : {}
    const isOutdated = !database.isAutoMigrated && (await planBi(db)).length > 0
    const outdated = 'The views are not in the time zone of the source: run `livehouse migrate up`, or `migrate sql`.'
    if (notice !== undefined || isOutdated) context.remark(notice ?? outdated)
  }
}

/**
 * Takes the place of list parameters from the findings of `probe`, unless the operator has set it. A wrong place costs
 * one call and no row: if the parameters have no effect there, the client tries the other place.
 */
async function withKnownListParams(service: ServiceSettings, db: Db): Promise<ServiceSettings> {
  if (service.isListParamsGiven) return service
  const facts = await readSourceFacts(db)
  const places = new Set(facts.map(({ answer }) => answer))
  const [place] = places
  return places.size === 1 && (place === 'query' || place === 'body') ? { ...service, listParams: place } : service
}

/**
 * Asks the service for its time. Call it before planning: all ranges are in the service's time. Warns if this machine's
 * clock differs, or if the service sends no time and this machine's clock has to do.
 * @returns the service's clock
 * @throws LivehouseError `api.unreachable`, `api.timeout`
 */
export async function readServiceTime(
  { log, signal }: Pick<AppContext, 'log' | 'signal'>,
  { serviceClock }: Pick<Connection, 'serviceClock'>,
): Promise<Clock> {
  await serviceClock.refresh(signal)
  const aheadMs = serviceClock.ownAheadMs()
  if (aheadMs === undefined) {
    const reason = "the service's answers have no Date of the years 2001 to 9998: this machine's clock is used instead"
    log.warn('clock.unknown', { reason })
  } else if (Math.abs(aheadMs) > MAX_CLOCK_DIFFERENCE_SECONDS * 1000) {
    const reason = "this machine's clock differs from the service's, which is used: synchronise it (NTP)"
    log.warn('clock.differs', { aheadSeconds: Math.round(aheadMs / 1000), reason })
  }
  return serviceClock
}

/**
 * The service's wall-clock time, and the earlier of it and this machine's: nothing later can count as read. For bounds
 * given on the command line.
 * @throws LivehouseError `api.unreachable`, `api.timeout`
 */
export async function askWallTime(
  context: AppContext,
  service: ServiceSettings,
): Promise<{ readonly now: WallTime; readonly earlier: WallTime }> {
  await using connection = openConnection(context, service, undefined)
  const { serviceClock } = connection
  await serviceClock.refresh(context.signal)
  const now = wallTimeAt(serviceClock.now(), service.timeZone)
  return { now, earlier: Math.min(now, wallTimeAt(context.clock.now(), service.timeZone)) }
}
