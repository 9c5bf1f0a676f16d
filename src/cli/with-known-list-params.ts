import type { Kysely } from 'kysely'
import type { ServiceSettings } from '../config.ts'
import type { Database } from '../db/database.ts'
import { readSourceFacts } from '../state/source-facts.ts'

/**
 * The settings with the place of list parameters that a probe has found, which is then tried first where no operator has
 * named one. Were it wrong, that would cost a call and no row: what has no effect is tried in the other place.
 */
export async function withKnownListParams(service: ServiceSettings, db: Kysely<Database>): Promise<ServiceSettings> {
  if (service.isListParamsGiven) return service
  const facts = await readSourceFacts(db)
  const places = new Set(facts.filter(({ topic }) => topic === 'list_params').map(({ answer }) => answer))
  const [place] = places
  return places.size === 1 && (place === 'query' || place === 'body') ? { ...service, listParams: place } : service
}
