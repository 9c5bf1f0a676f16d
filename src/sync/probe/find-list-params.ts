import { endpointOf, type Stream } from '../../core/stream.ts'
import type { SourceFact } from '../../core/source-fact.ts'
import type { Questioner, Reply } from './questioner.ts'

type Place = 'query' | 'body'

/** A size that is no default: an echo of it shows that it was read. */
const SIZE = 7

/**
 * Finds where the lists read their parameters of which the spec does not show it (API 4.8, 4.9): asks for a page size that is no default, in the query and, where that has no
 * effect, in the body; the next list first where the one before reads them. One or two calls a list.
 */
export async function findListParams(
  { ask }: Pick<Questioner, 'ask'>,
  streams: readonly Stream[],
): Promise<readonly SourceFact[]> {
  const facts: SourceFact[] = []
  let places: readonly Place[] = ['query', 'body']
  for (const stream of streams.filter(({ wire }) => wire.place === 'unknown')) {
    const fact = await findPlace(ask, stream, places)
    facts.push(fact)
    if (fact.answer === 'body') places = ['body', 'query']
  }
  return facts
}

async function findPlace(ask: Questioner['ask'], stream: Stream, places: readonly Place[]): Promise<SourceFact> {
  const fact = (answer: string | null, evidence: string): SourceFact => ({
    topic: 'list_params',
    subject: endpointOf(stream),
    answer,
    evidence,
  })
  const seen: string[] = []
  let isOpen = false
  for (const place of places) {
    const reply = await ask({ list: { stream, partition: {} }, pageSize: SIZE, place })
    const isRead = isHeeded(reply, stream)
    seen.push(`asked for a page of ${SIZE} in the ${place}: ${describe(reply)}`)
    if (isRead === true) return fact(place, seen.join('; '))
    isOpen ||= isRead === undefined
  }
  return fact(isOpen ? null : 'neither', seen.join('; '))
}

/** A place that is refused is not the place; undefined where the answer leaves it open. */
function isHeeded(reply: Reply, { wire }: Stream): boolean | undefined {
  if (reply.kind !== 'page') return reply.kind === 'refused' ? false : undefined
  const { echoedPageSize, items, total } = reply.page
  if (echoedPageSize !== undefined) return echoedPageSize === SIZE
  if (total === undefined) return undefined
  const [asked, byDefault] = [Math.min(total, SIZE), Math.min(total, wire.defaultSize)]
  return asked === byDefault ? undefined : items.length === asked
}

function describe(reply: Reply): string {
  if (reply.kind !== 'page') return reply.reason
  const { echoedPageSize, items, total } = reply.page
  const echo = echoedPageSize === undefined ? '' : `, called a page of ${echoedPageSize}`
  return `${items.length} of ${total ?? 'some'} came${echo}`
}
