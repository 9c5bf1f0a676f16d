import type { DatabaseSettings, ServiceSettings, ChannelSetting } from '../../app/settings.ts'
import type { Connection } from '../../service/connect.ts'
import { LARGEST_DIFFERENCE_SECONDS, openConnection, WATCHED_REFUSED_MS } from '../../app/open-connection.ts'
import { openSharedDatabase } from '../../app/open-database.ts'
import { hasCode } from '../../core/errors.ts'
import type { Page } from '../../core/page.ts'
import type { Partition } from '../../core/slice.ts'
import { endpointOf, type Stream } from '../../core/stream.ts'
import { allStreams, listOf } from '../../streams/registry.ts'
import { isObject } from '../../transform/field.ts'
import type { CliContext } from '../command.ts'
import { type Check, failed, passed, type ReportCheck, skipped } from './check.ts'

/** What of the settings is there. */
interface ServiceChecks {
  readonly service: ServiceSettings
  readonly database: DatabaseSettings | undefined
  readonly channels: readonly ChannelSetting[]
}

/** The two addresses, the token, each endpoint that reads, and the clock. */
export async function checkService(
  context: CliContext,
  { service: settings, database, channels }: ServiceChecks,
  report: ReportCheck,
): Promise<void> {
  const { signal } = context
  // A token that is asked for here may end the one that a run uses. What is wrong with the database is said later.
  await using shared = await openSharedDatabase({ ...context, remark: () => {} }, settings, database)
  // Somebody watches: what is asked again is asked at once.
  const watched = { random: () => 0, longestRefusedMs: WATCHED_REFUSED_MS }
  await using connection = openConnection(context, settings, shared.db, watched)
  const base = await checkAddress(connection, 'base', settings.baseUrl, context)
  report(base)
  const hasCredentials = settings.appId !== null && settings.authUrl !== null
  const auth = hasCredentials ? await checkAddress(connection, 'auth', settings.authUrl, context) : undefined
  if (auth !== undefined) report(auth)
  report(await checkToken(connection, auth, context))
  await checkEndpoints(connection, { channels, isReachable: base.result === 'ok', signal, report })
  report(checkClock(connection.serviceClock.ownAheadMs()))
}

async function checkAddress(
  { reach }: Connection,
  host: 'base' | 'auth',
  url: string | null,
  { signal }: CliContext,
): Promise<Check> {
  const name = `${host} URL`
  try {
    const status = await reach(host, { signal })
    return passed(name, `${url} answers (HTTP ${status} without a token)`)
  } catch (error) {
    // Whatever comes instead of a whole answer: somebody is there.
    if (hasCode(error, 'api.bodyRefused')) return passed(name, `${url} answers`)
    return failed(name, error, signal)
  }
}

async function checkToken(
  { accessToken }: Connection,
  address: Check | undefined,
  { signal }: CliContext,
): Promise<Check> {
  const name = '4.1 token'
  if (address === undefined) return skipped(name, 'not needed: no app id is set, the fixed token is used')
  if (address.result === 'failed') return skipped(name, 'not asked: the auth URL does not answer')
  try {
    const { issuedAtMs, expiresAtMs } = await accessToken({ signal })
    return passed(name, `handed out, valid for ${Math.round((expiresAtMs - issuedAtMs) / 1000)} s`)
  } catch (error) {
    return failed(name, error, signal)
  }
}

/** This machine's clock beside the service's. `aheadMs`: how far it is ahead; undefined where no answer told. */
function checkClock(aheadMs: number | undefined): Check {
  const name = 'clock'
  if (aheadMs === undefined) return skipped(name, "not compared: no answer told the service's time")
  const seconds = Math.round(aheadMs / 1000)
  // The header has whole seconds, and the answer was under way.
  if (Math.abs(seconds) <= 2) return passed(name, "the same as the service's")
  const seen = `${Math.abs(seconds)} s ${seconds > 0 ? 'ahead of' : 'behind'} the service's`
  if (Math.abs(seconds) <= LARGEST_DIFFERENCE_SECONDS) return passed(name, seen)
  const mend =
    "synchronise the clock of this machine (NTP): what is read goes by the service's, but schedules and ages by this one"
  return { name, result: 'warning', seen, mend }
}

interface EndpointChecks {
  readonly channels: readonly ChannelSetting[]
  /** Whether the base URL answers. */
  readonly isReachable: boolean
  readonly signal: AbortSignal
  readonly report: ReportCheck
}

/** The smallest call on each endpoint that reads, the first of which also shows whether the bearer token is accepted. */
async function checkEndpoints(connection: Connection, checks: EndpointChecks): Promise<void> {
  const { channels, isReachable, signal, report } = checks
  const channel = channels[0]?.channelId
  const pages = new Map<Stream, Page>()
  let isTokenRefused = false
  const partitionOf = (stream: Stream): Partition | string => {
    if (!isReachable) return 'the base URL does not answer'
    if (isTokenRefused) return 'the token is refused'
    if (stream.isBudgeted) return 'it allows ten calls a day'
    if (stream.partitionedBy === 'account') return {}
    if (channel === undefined) return 'no channel is configured'
    const [list, type] = [listOf(stream), stream.types?.[0]]
    const question = list && questionIdOf(pages.get(list)?.items[0])
    if (list !== undefined && question === undefined) return `no questionnaire of channel ${channel} is known`
    return { channel, ...(type && { type }), ...(question && { question }) }
  }
  for (const [index, stream] of askedStreams.entries()) {
    const name = `${stream.section} ${endpointOf(stream)}`
    const partition = partitionOf(stream)
    if (typeof partition === 'string') {
      report(skipped(name, `not asked: ${partition}`))
      continue
    }
    try {
      const page = await connection.fetchPage({ list: { stream, partition }, page: 1, pageSize: 1 }, { signal })
      pages.set(stream, page)
      if (index === 0) report(passed('bearer token', 'accepted'))
      report(passed(name, describe(page)))
    } catch (error) {
      isTokenRefused = index === 0 && (hasCode(error, 'api.unauthorized') || hasCode(error, 'api.credentialsRefused'))
      report(failed(isTokenRefused ? 'bearer token' : name, error, signal))
    }
  }
}

/** Those of the account first: they need no channel. */
const askedStreams = allStreams.toSorted(
  (a, b) => Number(b.partitionedBy === 'account') - Number(a.partitionedBy === 'account'),
)

function describe({ total, items }: Page): string {
  if (total !== undefined) return `answers, ${total.toLocaleString('en-US')} in all`
  return items.length === 0 ? 'answers, nothing there' : 'answers'
}

function questionIdOf(item: unknown): string | undefined {
  const id = isObject(item) ? item.question_id : undefined
  return typeof id === 'string' && id !== '' ? id : undefined
}
