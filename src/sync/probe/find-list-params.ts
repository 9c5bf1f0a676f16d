import type { SourceFact } from '../../core/source-fact.ts'
import type { Questioner, Reply } from './questioner.ts'

type Endpoint = 'managersUsage' | 'managers'
type Place = 'query' | 'body'

/** Sizes that are no default: an echo of them shows that they were read. */
const sizes: Readonly<Record<Endpoint, number>> = { managersUsage: 3, managers: 7 }
const defaults: Readonly<Record<Endpoint, number>> = { managersUsage: 1, managers: 20 }

/**
 * Finds where 4.8 and 4.9 read their parameters: asks for a page size that is no default, in the query and, where that has no
 * effect, in the body; the second endpoint first where the first one reads them. Two to four calls.
 */
export async function findListParams({ ask }: Pick<Questioner, 'ask'>): Promise<readonly SourceFact[]> {
  const facts: SourceFact[] = []
  let places: readonly Place[] = ['query', 'body']
  for (const endpoint of ['managersUsage', 'managers'] as const) {
    const fact = await findPlace(ask, endpoint, places)
    facts.push(fact)
    if (fact.answer === 'body') places = ['body', 'query']
  }
  return facts
}

async function findPlace(ask: Questioner['ask'], endpoint: Endpoint, places: readonly Place[]): Promise<SourceFact> {
  const fact = (answer: string | null, evidence: string): SourceFact => ({
    topic: 'list_params',
    subject: endpoint,
    answer,
    evidence,
  })
  const pageSize = sizes[endpoint]
  const seen: string[] = []
  let isOpen = false
  for (const place of places) {
    const reply = await ask({ list: { endpoint }, pageSize, place })
    const isRead = isHeeded(reply, endpoint)
    seen.push(`asked for a page of ${pageSize} in the ${place}: ${describe(reply)}`)
    if (isRead === true) return fact(place, seen.join('; '))
    isOpen ||= isRead === undefined
  }
  return fact(isOpen ? null : 'neither', seen.join('; '))
}

/** A place that is refused is not the place; undefined where the answer leaves it open. */
function isHeeded(reply: Reply, endpoint: Endpoint): boolean | undefined {
  if (reply.kind !== 'page') return reply.kind === 'refused' ? false : undefined
  const { echoedPageSize, items, total } = reply.page
  if (echoedPageSize !== undefined) return echoedPageSize === sizes[endpoint]
  if (total === undefined) return undefined
  const [asked, byDefault] = [Math.min(total, sizes[endpoint]), Math.min(total, defaults[endpoint])]
  return asked === byDefault ? undefined : items.length === asked
}

function describe(reply: Reply): string {
  if (reply.kind !== 'page') return reply.reason
  const { echoedPageSize, items, total } = reply.page
  const echo = echoedPageSize === undefined ? '' : `, called a page of ${echoedPageSize}`
  return `${items.length} of ${total ?? 'some'} came${echo}`
}
