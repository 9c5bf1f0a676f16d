import { LivehouseError } from '../core/errors.ts'
import type { Db } from '../store/database.ts'
import { ops, type Row } from './ops.ts'

/**
 * The source of a database's rows. With another value of any of these, rows would belong to another account or mean
 * other instants. The base URL has no trailing slash; `appId` is null if only a fixed token is used.
 */
export type Source = Pick<Row<'source'>, 'baseUrl' | 'appId' | 'timeZone'>

/**
 * Records the source of a database, and refuses any other from then on. Call it once the source has given a page: an
 * address that never answered may be mistyped. An app id is added later if only a fixed token was used so far. Of two
 * first pages at once, one is checked against the other.
 * @throws db.otherSource
 */
export async function claimSource(db: Db, source: Source): Promise<void> {
  const { baseUrl, appId, timeZone } = source
  // The unique index, which allows one row, makes this wait for another claim to commit.
  const claim = ops(db).insertInto('source').values({ baseUrl, appId, timeZone })
  await claim.onConflict((conflict) => conflict.doNothing()).execute()
  const same = ops(db).updateTable('source').where('baseUrl', '=', baseUrl).where('timeZone', '=', timeZone)
  if (appId !== null) await same.set({ appId }).where('appId', 'is', null).execute()
  await checkSource(db, source)
}

/** The source that a database belongs to; undefined before its first page. */
export async function readSource(db: Db): Promise<Source | undefined> {
  return await ops(db).selectFrom('source').select(['baseUrl', 'appId', 'timeZone']).executeTakeFirst()
}

/** Refuses another source, and records nothing. @returns the source on record @throws db.otherSource */
export async function checkSource(db: Db, source: Source): Promise<Source | undefined> {
  const stored = await readSource(db)
  if (stored === undefined) return undefined
  const differences = differencesBetween(stored, source)
  if (differences.length === 0) return stored
  throw new LivehouseError(
    'db.otherSource',
    `This database holds the records of another source: ${differences.join('; ')}. One database belongs to one ` +
      'source: set the old value again, or point DATABASE_URL at another database for the new one. If only the ' +
      'address or the app id of the same account has changed, confirm it once with livehouse doctor --confirm-source.',
    {},
  )
}

/**
 * Records the new address of a service, or another app id of the same account, when an operator confirms the move.
 * @returns a clause for each change; undefined if no run has claimed the database yet
 * @throws db.otherSource if anything else differs
 */
export async function moveSource(db: Db, source: Source): Promise<readonly string[] | undefined> {
  const stored = await readSource(db)
  if (stored === undefined) return undefined
  const appId = source.appId ?? stored.appId
  await checkSource(db, { ...source, baseUrl: stored.baseUrl, appId: stored.appId })
  await ops(db).updateTable('source').set({ baseUrl: source.baseUrl, appId }).execute()
  return differencesBetween(stored, source)
}

/**
 * A clause for each setting that names another source; none if the database can be used. App ids are compared only if
 * both are given, as a fixed token may change and names no account.
 */
export function differencesBetween(stored: Source, current: Source): readonly string[] {
  return [
    differenceIn('LIVEHOUSE_BASE_URL', stored.baseUrl, current.baseUrl),
    differenceIn('LIVEHOUSE_APP_ID', stored.appId, current.appId ?? stored.appId),
    differenceIn('LIVEHOUSE_TIMEZONE', stored.timeZone, current.timeZone),
  ].filter((difference) => difference !== undefined)
}

function differenceIn(variable: string, stored: string | null, current: string | null): string | undefined {
  return stored === null || stored === current ? undefined : `${variable} was ${stored} and is now ${current}`
}

/** What a probe found out about where a list takes its parameters. Holds counts and field names, no personal data. */
export interface SourceFact {
  /** An endpoint. */
  readonly subject: string
  /** Null if the probe could not find out; `evidence` says why. */
  readonly answer: string | null
  /** What was asked, and what the service answered. */
  readonly evidence: string
}

/** Separates these facts from those that other versions of livehouse recorded. */
const TOPIC = 'list_params'

/** What probes have found out, by endpoint. */
export async function readSourceFacts(db: Db) {
  const facts = ops(db).selectFrom('source_facts').select(['subject', 'answer', 'evidence', 'foundAt'])
  return await facts.where('topic', '=', TOPIC).orderBy('subject').execute()
}

/** Records what a probe found out. A fact without an answer does not replace an earlier answer. */
export async function saveSourceFacts(
  db: Db,
  facts: readonly SourceFact[],
  { runId, foundAt }: { readonly runId: string; readonly foundAt: Date },
): Promise<void> {
  if (facts.length === 0) return
  await ops(db)
    .insertInto('source_facts')
    .values(facts.map((fact) => ({ ...fact, topic: TOPIC, foundAt, runId })))
    .onConflict((conflict) =>
      conflict
        .columns(['topic', 'subject'])
        .doUpdateSet((eb) => ({
          answer: eb.ref('excluded.answer'),
          evidence: eb.ref('excluded.evidence'),
          foundAt,
          runId,
        }))
        .where((eb) => eb.or([eb('excluded.answer', 'is not', null), eb('source_facts.answer', 'is', null)])),
    )
    .execute()
}
