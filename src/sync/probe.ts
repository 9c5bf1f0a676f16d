import { hasCode, isFinalStatus, LivehouseError, recoveryFrom } from '../core/errors.ts'
import type { Ask, ListPlace, Page } from '../core/page.ts'
import { endpointOf } from '../core/slice.ts'
import type { Stream } from '../core/stream.ts'
import type { SourceFact } from '../ledger/source.ts'
import { type CallMeter, createCallMeter } from './slice-reading.ts'

/** The answer to one call: a page, or the reason why none came. */
type Reply = Page | { readonly isRefused: boolean; readonly reason: string }

/** No list has this page size by default: if it is echoed, or this many items come, the service read the parameter. */
const SIZE = 7

/**
 * Finds out where lists read their parameters if the spec does not say so (API 4.8, 4.9), with one or two harmless
 * calls per list, first at the place that the previous list reads. The evidence says why an answer is unknown.
 * @throws LivehouseError that ends a run, such as `api.unauthorized`, or if the service is out of reach
 */
export async function probe(ask: Ask, streams: readonly Stream[], signal: AbortSignal) {
  const facts: SourceFact[] = []
  const calls = new Map<Stream, ReturnType<CallMeter['counts']>>()
  /** The first failure of each stream that gave no answer. */
  const failures = new Map<Stream, LivehouseError>()
  let isReached = false
  const askAt = async (stream: Stream, place: ListPlace, { onAttempt }: CallMeter): Promise<Reply> => {
    try {
      const page = await ask({ list: { stream, partition: {} }, page: 1, pageSize: SIZE }, { signal, onAttempt }, place)
      isReached = true
      return page
    } catch (error) {
      if ((isFinalStatus(error) && !error.details.isWebPage) || hasCode(error, 'api.refused')) {
        isReached = true
        return { isRefused: true, reason: `refused with ${refusalCode(error)}` }
      }
      const recovery = recoveryFrom(error)
      const isOutOfReach = recovery === 'retry' && !isReached
      if (!(error instanceof LivehouseError) || isOutOfReach || recovery === 'abort') throw error
      if (!failures.has(stream)) failures.set(stream, error)
      return { isRefused: false, reason: `no answer came (${refusalCode(error)})` }
    }
  }
  let places: readonly ListPlace[] = ['query', 'body']
  for (const stream of streams.filter(({ wire }) => wire.place === 'unknown')) {
    const seen: string[] = []
    const meter = createCallMeter()
    let answer: SourceFact['answer'] = 'neither'
    for (const place of places) {
      const reply = await askAt(stream, place, meter)
      seen.push(`asked for a page of ${SIZE} in the ${place}: ${describeReply(reply)}`)
      const isRead = isSizeRead(reply, stream)
      if (isRead === undefined) answer = null
      if (isRead !== true) continue
      answer = place
      break
    }
    calls.set(stream, meter.counts())
    facts.push({ subject: endpointOf(stream), answer, evidence: seen.join('; ') })
    if (answer === 'body') places = ['body', 'query']
  }
  return { facts, calls, failures }
}

/** Describes an error without the service's own words, which may contain anything. */
function refusalCode(error: LivehouseError): string {
  if (hasCode(error, 'api.status')) return `HTTP status ${error.details.status}`
  return hasCode(error, 'api.refused') ? `code ${error.details.code}` : error.code
}

/** Whether the service read the page size; undefined if the answer does not show it. */
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
  const echo = echoedPageSize === undefined ? '' : `, and the answer names a page size of ${echoedPageSize}`
  return `${items.length} of ${total ?? 'some'} came${echo}`
}
