import type { Kysely } from 'kysely'
import { LivehouseError } from '../core/errors.ts'
import type { Database } from '../store/database.ts'

/** What a database belongs to: with another of these, its rows would be of another account or of other instants. */
export interface Source {
  /** Without a trailing slash. */
  readonly baseUrl: string
  /** Null where only a fixed token is used. */
  readonly appId: string | null
  readonly timeZone: string
}

/**
 * Remembers the source on the first use of a database and refuses any other. An app id that comes later, where only a fixed
 * token has been used so far, is remembered then. Two first uses at once: one remembers, the other is held against it.
 * @throws db.otherSource
 */
export async function claimSource(db: Kysely<Database>, source: Source): Promise<void> {
  const { baseUrl, appId, timeZone } = source
  // Waits for another first use to commit, by the index that allows one row.
  await db
    .insertInto('livehouse_ops.source')
    .values({ base_url: baseUrl, app_id: appId, time_zone: timeZone })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  if (appId !== null) {
    await db
      .updateTable('livehouse_ops.source')
      .set({ app_id: appId })
      .where('app_id', 'is', null)
      .where('base_url', '=', baseUrl)
      .where('time_zone', '=', timeZone)
      .execute()
  }
  await checkSource(db, source)
}

/** The source that a database belongs to; undefined before its first use. */
export async function readSource(db: Kysely<Database>): Promise<Source | undefined> {
  const row = await db.selectFrom('livehouse_ops.source').select(['base_url', 'app_id', 'time_zone']).executeTakeFirst()
  return row && { baseUrl: row.base_url, appId: row.app_id, timeZone: row.time_zone }
}

/** Refuses another source, and claims nothing. @throws db.otherSource */
export async function checkSource(db: Kysely<Database>, source: Source): Promise<void> {
  const remembered = await readSource(db)
  if (remembered === undefined) return
  const differences = differencesBetween(remembered, source)
  if (differences.length > 0) throw otherSource(differences)
}

/**
 * Remembers the new address of a service that has moved, or another app id of the same account, as a person has said.
 * @returns the address before; undefined where no run has claimed the database yet
 * @throws db.otherSource where anything else differs
 */
export async function moveSource(db: Kysely<Database>, source: Source): Promise<string | undefined> {
  const remembered = await readSource(db)
  if (remembered === undefined) return undefined
  const appId = source.appId ?? remembered.appId
  await checkSource(db, { ...source, baseUrl: remembered.baseUrl, appId: remembered.appId })
  await db.updateTable('livehouse_ops.source').set({ base_url: source.baseUrl, app_id: appId }).execute()
  return remembered.baseUrl
}

/**
 * Half a sentence for each setting that another source stands in; none where the database can be used. Where either has no app id,
 * the account is known by its token, which may change.
 */
export function differencesBetween(remembered: Source, given: Source): readonly string[] {
  return [
    differenceIn('LIVEHOUSE_BASE_URL', remembered.baseUrl, given.baseUrl),
    differenceIn('LIVEHOUSE_APP_ID', remembered.appId, given.appId ?? remembered.appId),
    differenceIn('LIVEHOUSE_TIMEZONE', remembered.timeZone, given.timeZone),
  ].filter((difference) => difference !== undefined)
}

function differenceIn(variable: string, remembered: string | null, given: string | null): string | undefined {
  return remembered === null || remembered === given ? undefined : `${variable} was ${remembered} and is now ${given}`
}

function otherSource(differences: readonly string[]): LivehouseError<'db.otherSource'> {
  return new LivehouseError(
    'db.otherSource',
    `This database holds the records of another source: ${differences.join('; ')}. One database belongs to one source: set ` +
      'the old value again, or point DATABASE_URL at another database for the new one. Where the account is the same, and only its ' +
      'address or its app id has changed, livehouse doctor --confirm-source says so once.',
    { differences },
  )
}

/** One answer of a probe to what the spec leaves open. Never holds personal data: numbers of rows and names of fields only. */
export interface SourceFact {
  /** `list_params`: where a list reads its parameters. */
  readonly topic: 'list_params'
  /** An endpoint. */
  readonly subject: string
  /** Null: it could not be known; the evidence says why. */
  readonly answer: string | null
  /** What was asked, and what came. */
  readonly evidence: string
}

/** A fact as it is kept. */
export interface KnownFact extends SourceFact {
  readonly foundAt: Date
}

/** What probes have found, by endpoint; what other versions have asked is left out. */
export async function readSourceFacts(db: Kysely<Database>): Promise<readonly KnownFact[]> {
  const topic = 'list_params' as const
  const facts = await db
    .selectFrom('livehouse_ops.source_facts')
    .select(['subject', 'answer', 'evidence', 'found_at as foundAt'])
    .where('topic', '=', topic)
    .orderBy('subject')
    .execute()
  return facts.map((fact) => ({ topic, ...fact }))
}

/** Keeps what a probe found. What could not be known this time leaves an earlier answer as it is. */
export async function keepSourceFacts(
  db: Kysely<Database>,
  facts: readonly SourceFact[],
  { runId, foundAt }: { readonly runId: string; readonly foundAt: Date },
): Promise<void> {
  if (facts.length === 0) return
  const rows = facts.map((fact) => ({ ...fact, found_at: foundAt, run_id: runId }))
  await db
    .insertInto('livehouse_ops.source_facts')
    .values(rows)
    .onConflict((conflict) =>
      conflict
        .columns(['topic', 'subject'])
        .doUpdateSet((eb) => ({
          answer: eb.ref('excluded.answer'),
          evidence: eb.ref('excluded.evidence'),
          found_at: eb.ref('excluded.found_at'),
          run_id: eb.ref('excluded.run_id'),
        }))
        .where((eb) =>
          eb.or([eb('excluded.answer', 'is not', null), eb('livehouse_ops.source_facts.answer', 'is', null)]),
        ),
    )
    .execute()
}
