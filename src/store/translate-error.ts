import { codeOf, hasCode, LivehouseError, messageOf } from '../core/errors.ts'

export const DEPENDENT_OBJECTS_STILL_EXIST = '2BP01'

/** What to do about a refusal, by SQLSTATE (PostgreSQL, appendix A); two characters stand for a whole class. */
const repairs: Readonly<Record<string, string>> = {
  '25006': 'It is read-only: connect to the primary, or end its recovery or default_transaction_read_only',
  '25P03': 'It ended an idle transaction: raise idle_in_transaction_session_timeout for this user, or run again',
  '25P04': 'It ended the transaction: raise transaction_timeout for this user, or run again',
  '28': 'Check the user, the password and pg_hba.conf for this address',
  [DEPENDENT_OBJECTS_STILL_EXIST]: 'Save its definition (pg_get_viewdef), drop it, and run this again',
  '3D000': 'Create the database first (CREATE DATABASE …), or correct its name in DATABASE_URL',
  '42P01': 'Was it restored or changed? Start livehouse again: it creates the tables of its queue; restore all others',
  '42501': 'Grant the right to the user of DATABASE_URL (docs/operations.md says which)',
  '53': 'It lacks a resource: see its log, then run again',
  '53100': 'Its disk is full: make room there, then run again; nothing half-written was kept',
  '53200': 'It is out of memory: give it more, then run again',
  '53300': 'It has no connection left: raise max_connections, or connect through a pooler',
  '57014': 'It ended the statement: raise statement_timeout for this user, or run again',
  '57P01': 'It, or this session, was ended by an administrator: start it if it is down, then run again',
  '57P02': 'It crashed: see its log, then run again',
  '57P03': 'It is starting or stopping: wait a moment, then run again',
  '57P05': 'It ended an idle session: raise idle_session_timeout for this user, or run again',
  '58': 'Its files cannot be read or written: see its log, then run again',
  XX: 'See its log, and whether its disk is full; then run again',
}

/** How errors name a database. */
export interface DatabaseName {
  /** Host, port and database, without user and password. */
  readonly target: string
  /** The setting that its URL comes from: `DATABASE_URL`, or a flag. */
  readonly setting: string
}

/** `host:port/database` of a Postgres URL, for messages: without user and password. */
export function describeTarget(url: string): string {
  if (!URL.canParse(url)) return '(a malformed URL)'
  const { hostname, port, pathname, searchParams } = new URL(url)
  const host = searchParams.get('host') ?? (hostname === '' ? 'localhost' : decodeURIComponent(hostname))
  return `${host}:${searchParams.get('port') ?? (port === '' ? '5432' : port)}${decodeURI(pathname)}`
}

/** Node's error codes for a lost connection. */
const lossCodes: ReadonlySet<string> = new Set(['ECONNRESET', 'ECONNREFUSED', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH'])
/** The driver's messages for a lost connection: these errors have no code. */
const lossMessages = /^(Connection terminated|Client has encountered a connection error|Client was closed)/

/**
 * Translates an error of a statement: a lost connection becomes `db.unreachable`; a refusal of the server becomes
 * `db.refused` with advice. Any other error (a broken constraint, a bug) is returned unchanged.
 */
export function translateStatementError(error: unknown, database: DatabaseName): unknown {
  if (!(error instanceof Error) || error instanceof LivehouseError) return error
  const code = codeOf(error)
  const repair = repairs[code] ?? repairs[code.slice(0, 2)]
  if (repair !== undefined && code.length === 5) return refusalError(error, repair, database)
  // 08P01 is either a message that the server does not understand, which is a bug, or PgBouncer's end of a session.
  const isBug = code === '08P01' && !('severity' in error && error.severity === 'FATAL')
  const isLost = lossCodes.has(code) || (code.startsWith('08') && !isBug) || lossMessages.test(error.message)
  return isLost ? unreachableError(error, database) : error
}

/** Translates an error while connecting: `db.refused` for a refusal of the server, otherwise `db.unreachable`. */
export function translateConnectError(error: unknown, database: DatabaseName): unknown {
  const translated = translateStatementError(error, database)
  if (translated instanceof LivehouseError || !(error instanceof Error)) return translated
  return unreachableError(error, database)
}

function refusalError(error: Error, repair: string, { target, setting }: DatabaseName): LivehouseError<'db.refused'> {
  const sqlState = codeOf(error)
  const reason = dependentsIn(error) ?? error.message
  const message = `Database ${target} refuses: ${reason} (${sqlState}). ${repair.replaceAll('DATABASE_URL', setting)}.`
  return new LivehouseError('db.refused', message, { reason, sqlState }, { cause: error })
}

/** Names what keeps an object from being dropped, as only the detail does, in any language; undefined otherwise. */
function dependentsIn(error: Error): string | undefined {
  if (codeOf(error) !== DEPENDENT_OBJECTS_STILL_EXIST || !('detail' in error)) return undefined
  const detail = String(error.detail)
  const names = new Set(Array.from(detail.matchAll(/^(.+?) depends on /gm), ([, name]) => name))
  return names.size > 0 ? `${[...names].join(', ')} depends on what has to be dropped` : detail.replaceAll('\n', '; ')
}

function unreachableError(error: Error, { target, setting }: DatabaseName): LivehouseError<'db.unreachable'> {
  // For a host with several addresses, Node wraps one error for each in an error that has no message of its own.
  const errorText = error instanceof AggregateError ? error.errors.map(messageOf).join('; ') : error.message
  const reason = errorText.replace(/^SASL.* password must be a string$/, 'it requires a password, but none is given')
  const server = 'that the server runs and accepts connections from here (TLS: sslmode=verify-full, sslrootcert=FILE)'
  const message = `Database ${target} cannot be reached: ${reason}. Check the address in ${setting}, and ${server}.`
  return new LivehouseError('db.unreachable', message, {}, { cause: error })
}

/** Whether a statement failed because a table does not exist. */
export function isMissingTable(error: unknown): boolean {
  return hasCode(error, 'db.refused') && error.details.sqlState === '42P01'
}

/** Whether the server is gone, or ends the connection after this error (57P: it stops; 25P03, 25P04: a time limit). */
export function isConnectionLoss(error: unknown): boolean {
  if (!hasCode(error, 'db.refused')) return hasCode(error, 'db.unreachable')
  return /^57P|^25P0[34]/.test(error.details.sqlState)
}
