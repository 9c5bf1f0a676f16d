import type { Clock } from '../core/clock.ts'
import { hasCode, LivehouseError, recoveryFrom } from '../core/errors.ts'
import type { CallContext, ListRequest, Page, PageRequest } from '../core/page.ts'
import type { Window } from '../core/slice.ts'
import type { SourceFact } from '../core/source-fact.ts'
import { endpointOf, type Stream } from '../core/stream.ts'
import { DAY, formatWallTime, MINUTE, offsetAt, parseWallTime, type WallTime, wallTimeAt } from '../core/wall-clock.ts'

type Place = 'query' | 'body'

interface ProbeDeps {
  /** Asks the service for exactly this page. */
  readonly ask: (request: PageRequest, context: CallContext, place?: Place) => Promise<Page>
  /** Of these, the first that is counted and filtered by time in each channel tells what is newest. */
  readonly streams: readonly Stream[]
  /** The first of them that has rows is asked. */
  readonly channels: readonly string[]
  readonly timeZone: string
  /** Counts where the service does not tell its time. */
  readonly clock: Pick<Clock, 'now'>
  readonly signal: AbortSignal
}

interface StreamCalls {
  readonly calls: number
  readonly retries: number
}

export interface ProbeResult {
  readonly facts: readonly SourceFact[]
  readonly calls: ReadonlyMap<Stream, StreamCalls>
  /** The first failure of each stream that gave no answer. */
  readonly failures: ReadonlyMap<Stream, LivehouseError>
}

/** What came of one question: a page, or half a sentence that says why none came. */
type Reply = Page | { readonly isRefused: boolean; readonly reason: string }
type Ask = (list: ListRequest, pageSize: number, place?: Place) => Promise<Reply>

/**
 * Finds out what the spec leaves open and a setting depends on, with at most eight calls that change nothing. What an answer
 * does not show is unknown, and the evidence says why.
 * @throws LivehouseError what ends a run, such as `api.unauthorized`, and what shows that the service is out of reach
 */
export async function probe(deps: ProbeDeps): Promise<ProbeResult> {
  const calls = new Map<Stream, StreamCalls>()
  const failures = new Map<Stream, LivehouseError>()
  let isReached = false
  const ask: Ask = async (list, pageSize, place) => {
    const { stream } = list
    const earlier = failures.get(stream)
    if (hasCode(earlier, 'api.forbidden')) return { isRefused: false, reason: unanswered(earlier) }
    const onAttempt = (attempt: number): void => {
      const before = calls.get(stream) ?? { calls: 0, retries: 0 }
      calls.set(stream, { calls: before.calls + 1, retries: before.retries + Number(attempt > 1) })
    }
    try {
      const page = await deps.ask({ list, page: 1, pageSize }, { signal: deps.signal, onAttempt }, place)
      isReached = true
      return page
    } catch (error) {
      const isStatus = hasCode(error, 'api.status') && error.details.status >= 400 && error.details.status < 500
      if (isStatus || hasCode(error, 'api.refused')) {
        isReached = true
        return { isRefused: true, reason: `refused with ${codeOf(error)}` }
      }
      const recovery = recoveryFrom(error)
      const isOutOfReach = recovery === 'retry' && !isReached
      if (!(error instanceof LivehouseError) || isOutOfReach || recovery === 'abort') throw error
      if (earlier === undefined) failures.set(stream, error)
      return { isRefused: false, reason: unanswered(error) }
    }
  }
  const params = await findListParams(ask, deps.streams)
  const zone = deps.channels.length === 0 ? [] : [await findZone(ask, deps)]
  return { facts: [...zone, ...params], calls, failures }
}

/** Without the service's own words: nobody knows what they hold. */
function unanswered(error: LivehouseError): string {
  return `no answer came (${hasCode(error, 'api.status') ? codeOf(error) : error.code})`
}

function codeOf(error: LivehouseError): string {
  if (hasCode(error, 'api.status')) return `HTTP status ${error.details.status}`
  return hasCode(error, 'api.refused') ? `code ${error.details.code}` : error.code
}

/** A page size that is no default: an echo of it, or as many items, shows that it was read. */
const SIZE = 7

/**
 * Finds where the lists read their parameters of which the spec does not show it (API 4.8, 4.9); first where the list before reads
 * them. One or two calls a list.
 */
async function findListParams(ask: Ask, streams: readonly Stream[]): Promise<readonly SourceFact[]> {
  const facts: SourceFact[] = []
  let places: readonly Place[] = ['query', 'body']
  for (const stream of streams.filter(({ wire }) => wire.place === 'unknown')) {
    const seen: string[] = []
    let answer: SourceFact['answer'] = 'neither'
    for (const place of places) {
      const reply = await ask({ stream, partition: {} }, SIZE, place)
      seen.push(`asked for a page of ${SIZE} in the ${place}: ${describeReply(reply)}`)
      const isRead = isSizeRead(reply, stream)
      if (isRead === undefined) answer = null
      if (isRead !== true) continue
      answer = place
      break
    }
    facts.push({ topic: 'list_params', subject: endpointOf(stream), answer, evidence: seen.join('; ') })
    if (answer === 'body') places = ['body', 'query']
  }
  return facts
}

/** A place that is refused is not the place; undefined where the answer leaves it open. */
function isSizeRead(reply: Reply, { wire }: Stream): boolean | undefined {
  if ('reason' in reply) return reply.isRefused ? false : undefined
  const { echoedPageSize, items, total } = reply
  if (echoedPageSize !== undefined) return echoedPageSize === SIZE
  if (total === undefined || Math.min(total, SIZE) === Math.min(total, wire.defaultSize)) return undefined
  return items.length === Math.min(total, SIZE)
}

function describeReply(reply: Reply): string {
  if ('reason' in reply) return reply.reason
  const { echoedPageSize, items, total } = reply
  const echo = echoedPageSize === undefined ? '' : `, called a page of ${echoedPageSize}`
  return `${items.length} of ${total ?? 'some'} came${echo}`
}

/** So many channels are tried for rows. */
const MOST_CHANNELS = 3
/** Offsets of zones differ by quarters of an hour: what is younger fits one zone only. */
const YOUNG = 15 * MINUTE
/** Clocks differ, and shown minutes are cut. */
const TOLERANCE = 2 * MINUTE

/** Finds whether the newest rows fit the configured zone: none may lie ahead of now. At most four calls. */
async function findZone(ask: Ask, { streams, channels, timeZone, clock }: ProbeDeps): Promise<SourceFact> {
  let nowMs = clock.now()
  let noAnswer: string | undefined
  const stream = streams.find(({ isTimeFiltered, isCounted, partitionedBy }) => {
    return isTimeFiltered && isCounted && partitionedBy === 'channel'
  })
  const newestOf = async (channel: string, window?: Window): Promise<number> => {
    if (stream === undefined) return -Infinity
    const reply = await ask({ stream, partition: { channel }, window }, stream.pageSize)
    if ('reason' in reply) {
      noAnswer ??= reply.reason
      return -Infinity
    }
    nowMs = reply.serviceTimeMs ?? nowMs
    return Math.max(...reply.items.flatMap((item) => timesOf(item, stream)))
  }
  let newest = -Infinity
  let channel = ''
  for (const channelId of channels.slice(0, MOST_CHANNELS)) {
    channel = channelId
    newest = await newestOf(channelId)
    if (newest > -Infinity) break
  }
  const now = wallTimeAt(nowMs, timeZone)
  if (newest > -Infinity && newest < now - YOUNG) {
    const ahead = { from: now - YOUNG, to: now + DAY + 120 * MINUTE }
    newest = Math.max(newest, await newestOf(channel, ahead))
  }
  const fact = (answer: string | null, evidence: string): SourceFact => {
    return { topic: 'zone', subject: 'account', answer, evidence }
  }
  if (newest === -Infinity) return fact(null, noAnswer ?? 'no row with a time came')
  const shown = `newest record ${formatWallTime(newest).slice(0, 16)} ${offsetAt(nowMs, timeZone)}`
  if (newest > now + TOLERANCE)
    return fact('does not fit', `${shown}, ${describeSpan(newest - now)} ahead of now in ${timeZone}`)
  const evidence = `${shown}, ${describeSpan(Math.max(0, now - newest))} ago in ${timeZone}`
  if (newest >= now - YOUNG) return fact('fits', evidence)
  return fact(null, `${evidence}: nobody has watched since, or the zone is another`)
}

function timesOf(item: unknown, { columns, timeColumns }: Stream): readonly WallTime[] {
  const fields: Readonly<Record<string, unknown>> = Object(item)
  return timeColumns.flatMap((name) => {
    const source = columns[name]?.source
    const value = source?.kind === 'field' ? fields[source.field] : undefined
    return typeof value === 'string' ? (parseWallTime(value) ?? []) : []
  })
}

function describeSpan(seconds: number): string {
  const minutes = Math.floor(seconds / 60)
  if (minutes < 120) return `${minutes} ${minutes === 1 ? 'minute' : 'minutes'}`
  return minutes < 48 * 60 ? `${Math.floor(minutes / 60)} hours` : `${Math.floor(minutes / 60 / 24)} days`
}
