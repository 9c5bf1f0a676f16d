import { randomBytes } from 'node:crypto'
import { type Client, DatabaseError } from 'pg'
import { LivehouseError } from '../core/errors.ts'
import { openSession, type Session } from './open-session.ts'
import { describeTarget, translateConnectError } from './translate-error.ts'

const SETTING = 'DATABASE_URL'
/** The most bytes of all answers together, as Postgres sends them. */
const MAX_BYTES = 1_048_576
/** Time to connect, and to create and drop a login. */
const CONNECTING_MS = 5000

/** The limits of an analyst's queries, and the settings of their session. */
export interface AnalystSettings {
  readonly maxRows: number
  readonly timeoutMs: number
  readonly timeZone: string
  /** Ends the queries, on the server too. */
  readonly signal: AbortSignal
  /** The password of the login that may be created for the queries: letters and digits. */
  readonly password: string
}

/** A `bigint`, `numeric`, `json` or array is Postgres' exact text; an instant is ISO 8601 with its offset. */
type AnswerValue = string | number | boolean | null

export type Answer = Awaited<ReturnType<typeof read>>

/**
 * Runs queries, each a single SELECT, VALUES, TABLE or WITH, as `livehouse_analyst` in one read-only snapshot, on a
 * connection of their own. Its login may do no more than an analyst, as a function in a query can undo `set role`: if
 * the URL's login may create roles, one is created for these queries. A silent server is given up after some seconds.
 * @throws db.unreachable; db.refused with Postgres' message and the position in the query, or for too many rights
 */
export async function readAsAnalyst(
  url: string,
  queries: readonly string[],
  settings: AnalystSettings,
): Promise<readonly Answer[]> {
  const limitMs = queries.length * settings.timeoutMs + CONNECTING_MS
  const deadline = AbortSignal.timeout(limitMs)
  try {
    return await readWithLogin(url, queries, { ...settings, signal: AbortSignal.any([settings.signal, deadline]) })
  } catch (error) {
    if (error !== deadline.reason) throw error
    const reason = new Error(`no answer within ${limitMs / 1000} s`, { cause: error })
    throw translateConnectError(reason, { target: describeTarget(url), setting: SETTING })
  }
}

async function readWithLogin(url: string, queries: readonly string[], settings: AnalystSettings) {
  await using own = await openSession(url, SETTING, settings.signal)
  const rights = await readRights(own)
  if (!rights.mayMakeLogins) return await readInSession(own, rights, queries, settings)
  const login = await createLogin(own, url, settings)
  try {
    await using session = await openSession(login.url, SETTING, settings.signal)
    return await readInSession(session, await readRights(session), queries, settings)
  } finally {
    await own.query(`drop role ${login.name}`).catch(async () => await dropLogin(url, login.name))
  }
}

async function readInSession(session: Session, rights: Rights, queries: readonly string[], settings: AnalystSettings) {
  const { maxRows, timeoutMs, timeZone } = settings
  if (!rights.isOnlyAnalyst) {
    const repair = `Give ${SETTING} a login that is granted livehouse_analyst and nothing else (docs/bi-tools.md)`
    refuse(`login ${rights.login} is not only an analyst`, repair)
  }
  const { client } = session
  try {
    await client.query('begin isolation level repeatable read read only')
    await client.query('savepoint refusable')
    // Ends a query after this side has closed the connection. On some systems the server refuses this setting.
    await client
      .query("set local client_connection_check_interval = '1s'")
      .catch(async () => await client.query('rollback to savepoint refusable'))
    await client.query('set local role livehouse_analyst')
    await client.query(
      `select set_config('statement_timeout', $1, true), set_config('idle_in_transaction_session_timeout', $1, true),
        set_config('timezone', $2, true), set_config('search_path', 'livehouse_bi, livehouse_forms', true)`,
      [String(timeoutMs), timeZone],
    )
    limitBytes(client)
    const answers: Answer[] = []
    for (const query of queries) answers.push(await read(client, query, maxRows))
    return answers
  } catch (error) {
    throw error instanceof DatabaseError ? refusalOf(error) : session.translate(error)
  }
}

const DECLARE = 'declare answer no scroll cursor for '

/**
 * Runs one query: the extended protocol takes a single statement, and `declare` only a query that writes nothing.
 * @returns `isCut`: there are more rows than `maxRows`
 */
async function read(client: Client, query: string, maxRows: number) {
  const declaration = { text: DECLARE + query, queryMode: 'extended' }
  await client.query(declaration)
  const { fields, rows } = await client.query<AnswerValue[]>({
    text: `fetch ${maxRows + 1} from answer`,
    rowMode: 'array',
    types: { getTypeParser: (oid: number) => parsers[oid] ?? String },
  })
  await client.query('close answer')
  return { columns: fields.map(({ name }) => name), rows: rows.slice(0, maxRows), isCut: rows.length > maxRows }
}

const isoOf = (text: string) => text.replace(' ', 'T').replace(/([+-]\d\d)$/, '$1:00')

/** Parsers by the type's number in `pg_type`: boolean, smallint, integer, the two timestamps. */
const parsers: Readonly<Record<number, (text: string) => AnswerValue>> = {
  16: (text) => text === 't',
  21: Number,
  23: Number,
  1114: isoOf,
  1184: isoOf,
}

/** Closes the connection as soon as too much arrives: a single value may have a gigabyte. */
function limitBytes({ connection: { stream } }: Client): void {
  let received = 0
  stream.on('data', (chunk: Buffer) => {
    received += chunk.length
    if (received <= MAX_BYTES) return
    const reason = `the answer has more than ${MAX_BYTES} bytes`
    const message = `${reason}: ask for fewer rows or columns, or for sums`
    stream.destroy(new LivehouseError('db.refused', message, { reason, sqlState: '54000' }))
  })
}

function refusalOf(error: DatabaseError): LivehouseError<'db.refused'> {
  const { message: reason, code: sqlState = '', hint } = error
  const place = Number(error.position) - DECLARE.length
  const position = place > 0 ? ` at character ${place}` : ''
  const message = `${reason} (${sqlState})${position}${hint === undefined ? '' : `. ${hint}`}`
  return new LivehouseError('db.refused', message, { reason, sqlState }, { cause: error })
}

interface Rights {
  readonly login: string
  readonly mayMakeLogins: boolean
  /** The login is an analyst, and has no other rights or roles. */
  readonly isOnlyAnalyst: boolean
}

/** Reads the rights of the session's login, whatever role it has taken. @throws db.refused if there are no views */
async function readRights(session: Session): Promise<Rights> {
  const [rights] = await session.query<Rights & Record<string, unknown>>(`
    select r.rolname as login, r.rolsuper or r.rolcreaterole as "mayMakeLogins",
      pg_has_role(r.oid, a.oid, 'member')
      and not (r.rolsuper or r.rolcreaterole or r.rolcreatedb or r.rolreplication or r.rolbypassrls)
      and not exists (select from pg_roles o where o.oid not in (r.oid, a.oid) and pg_has_role(r.oid, o.oid, 'member'))
      and not exists (select from pg_namespace n
        where n.nspname in ('livehouse', 'livehouse_ops') and has_schema_privilege(r.oid, n.oid, 'usage'))
      as "isOnlyAnalyst"
    from pg_roles r join pg_roles a on a.rolname = 'livehouse_analyst'
    where r.rolname = session_user and exists (select from pg_views where schemaname = 'livehouse_bi')`)
  return rights ?? refuse('there are no views for analysts', 'Run `livehouse migrate up`')
}

function refuse(reason: string, repair: string): never {
  throw new LivehouseError('db.refused', `Database: ${reason}. ${repair}.`, { reason, sqlState: '42501' })
}

/** Creates a login that is an analyst and nothing else, and drops expired ones that killed processes left behind. */
async function createLogin(own: Session, url: string, { password, timeoutMs }: AnalystSettings) {
  const name = `livehouse_mcp_${randomBytes(8).toString('hex')}`
  await own.query(`do $$ declare expired name; begin
    for expired in select rolname from pg_roles where rolname ~ '^livehouse_mcp_[0-9a-f]{16}$' and rolvaliduntil < now()
    loop
      begin
        execute format('drop role %I', expired);
      exception when insufficient_privilege or undefined_object then null;
      end;
    end loop;
    execute format('create role ${name} login password ''${password}'' valid until %L in role livehouse_analyst',
      now() + interval '1 minute' + ${4 * timeoutMs} * interval '1 millisecond');
  end $$`)
  const loginUrl = new URL(url)
  // The driver prefers parameters to the authority part, which a URL without a host does not have.
  loginUrl.searchParams.set('user', name)
  loginUrl.searchParams.set('password', password)
  return { name, url: loginUrl.href }
}

/** Drops a login over a new connection, as the first one was interrupted. If this fails too, the login expires soon. */
async function dropLogin(url: string, login: string): Promise<void> {
  try {
    await using own = await openSession(url, SETTING, AbortSignal.timeout(CONNECTING_MS))
    await own.query(`drop role ${login}`)
  } catch {}
}
