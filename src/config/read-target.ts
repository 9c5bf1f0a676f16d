import type { DatabaseTarget } from '../app/settings.ts'
import type { SettingSource } from './setting-source.ts'

const EXPECTED =
  'it should be a Postgres URL such as postgres://USER@HOST:5432/NAME, or the word embedded for the PostgreSQL that livehouse keeps itself'

/** `DATABASE_URL`: it may carry a password, so it is never shown. */
export function readTarget(source: SettingSource): DatabaseTarget {
  const embedded = { kind: 'embedded' } as const
  if (!source.isSet('DATABASE_URL')) source.refuse(`DATABASE_URL is not set; ${EXPECTED}`)
  const given = source.value('DATABASE_URL')
  if (given === undefined || given === 'embedded') return embedded
  const protocol = URL.parse(given)?.protocol
  if (protocol === 'postgres:' || protocol === 'postgresql:') return { kind: 'url', url: given }
  const what = protocol === undefined ? 'is not a URL' : `begins with ${protocol}`
  source.refuse(`DATABASE_URL (not shown) ${what}; ${EXPECTED}`)
  return embedded
}
