import { hasCode } from '../../core/errors.ts'
import type { Page } from '../../core/page.ts'
import { endpointOf, type Partition } from '../../core/slice.ts'
import type { Stream } from '../../core/stream.ts'
import type { Connection } from '../../service/connect.ts'
import { MAX_CLOCK_DIFFERENCE_SECONDS } from '../../service/service-clock.ts'
import { allStreams, questionIdIn, questionStreamOf } from '../../streams/registry.ts'
import type { AppContext } from '../context.ts'
import { openConnection, WATCHED_REFUSED_MS } from '../open-connection.ts'
import { openSharedDatabase } from '../open-database.ts'
import type { ChannelSetting, DatabaseSettings, ServiceSettings } from '../settings.ts'
import { type Report, reportFailure } from './check.ts'

/** Checks the base URL, the token, each endpoint that reads records, and the clock. */
export async function checkService(
  context: AppContext,
  service: ServiceSettings,
  database: DatabaseSettings | undefined,
  channels: readonly ChannelSetting[],
  report: Report,
): Promise<void> {
  const { signal } = context
  // Share the token: a new one may end the validity of a run's. Problems with the database are reported later.
  await using shared = await openSharedDatabase({ ...context, remark: () => {} }, service, database)
  await using connection = openConnection(context, service, shared, { longestRefusedMs: WATCHED_REFUSED_MS })
  /** `look` returns what it saw. @returns the error; undefined if there is none */
  const check = async (name: string, look: () => Promise<string>): Promise<unknown> => {
    try {
      report(name, 'ok', await look())
      return undefined
    } catch (error) {
      reportFailure(report, name, error, signal)
      return error
    }
  }
  const reachError = await check('base URL', async () => {
    const status = await connection.reach({ signal }).catch((error: unknown) => {
      // An answer that is too large is still an answer.
      if (hasCode(error, 'api.bodyRefused')) return 'too much'
      throw error
    })
    return `${service.baseUrl} answers (HTTP ${status} without a token)`
  })
  let tokenError: unknown
  if (service.appId === null) report('4.1 token', 'skipped', 'not needed: no app id is set, the fixed token is used')
  else
    tokenError = await check('4.1 token', async () => {
      const { issuedAtMs, expiresAtMs } = await connection.accessToken({ signal })
      return `issued, valid for ${Math.round((expiresAtMs - issuedAtMs) / 1000)} s`
    })

  // The first endpoint also shows whether the bearer token is accepted.
  let obstacle = reachError === undefined ? undefined : 'the base URL does not answer'
  if (tokenError !== undefined && service.apiToken === null) obstacle ??= 'no token was issued'
  const pages = new Map<Stream, Page>()
  for (const [index, stream] of askedStreams.entries()) {
    const name = `${stream.section} ${endpointOf(stream)}`
    const partition = obstacle ?? partitionOf(stream, channels[0]?.channelId, pages)
    if (typeof partition === 'string') {
      report(name, 'skipped', `not asked: ${partition}`)
      continue
    }
    const endpointError = await check(name, async () => {
      const page = await connection.fetchPage({ list: { stream, partition }, page: 1, pageSize: 1 }, { signal })
      pages.set(stream, page)
      if (index === 0) report('bearer token', 'ok', 'accepted')
      return describe(page)
    })
    const isRefused = hasCode(endpointError, 'api.unauthorized') || hasCode(endpointError, 'api.credentialsRefused')
    if (index === 0 && isRefused) obstacle = 'the token is refused'
  }
  checkClock(connection, report)
}

/** Streams of the account first: they need no channel. */
const askedStreams = allStreams.toSorted(
  (a, b) => Number(b.partitionedBy === 'account') - Number(a.partitionedBy === 'account'),
)

/** The partition of a stream to ask for, or why to skip the stream. @param pages the answers so far */
function partitionOf(
  stream: Stream,
  channel: string | undefined,
  pages: ReadonlyMap<Stream, Page>,
): Partition | string {
  if (stream.isBudgeted) return 'it allows ten calls a day'
  if (stream.partitionedBy === 'account') return {}
  if (channel === undefined) return 'no channel is configured'
  const [list, type] = [questionStreamOf(stream), stream.types?.[0]]
  if (list === undefined) return { channel, ...(type && { type }) }
  const question = questionIdIn(pages.get(list)?.items[0], list)
  return question === undefined ? `no questionnaire of channel ${channel} is known` : { channel, question }
}

function describe({ total, items }: Page): string {
  if (total !== undefined) return `answers, ${total.toLocaleString('en-US')} in all`
  return items.length === 0 ? 'answers, with an empty list' : 'answers'
}

function checkClock({ serviceClock }: Connection, report: Report): void {
  const aheadMs = serviceClock.ownAheadMs()
  if (aheadMs === undefined) return report('clock', 'skipped', "not compared: no answer had the service's time")
  const seconds = Math.round(aheadMs / 1000)
  // The Date header has whole seconds, and the answer took time to arrive.
  if (Math.abs(seconds) <= 2) return report('clock', 'ok', "the same as the service's")
  const finding = `${Math.abs(seconds)} s ${seconds > 0 ? 'ahead of' : 'behind'} the service's`
  if (Math.abs(seconds) <= MAX_CLOCK_DIFFERENCE_SECONDS) return report('clock', 'ok', finding)
  report('clock', 'warning', finding, 'synchronise the clock of this machine (NTP): schedules and ages depend on it')
}
