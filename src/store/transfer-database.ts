import { createReadStream } from 'node:fs'
import { open, rm } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { from as copyFrom, to as copyTo } from 'pg-copy-streams'
import { LivehouseError } from '../core/errors.ts'
import { loadMigrations } from './migrate.ts'
import { migrationTables } from './migration-lock.ts'
import { schemaStatements } from './migration-sql.ts'
import { openSession, type Session } from './open-session.ts'
import { describeTarget } from './translate-error.ts'

/** The first line of a dump. A file without it is not restored. */
const TITLE = '-- What livehouse db dump wrote.'
/** The last line of a dump. A file without it is not committed. */
const END = 'commit;\n'
const COPY = /^copy (.*) from stdin;$/
const SCHEMAS = ['livehouse', 'livehouse_ops', 'livehouse_bi']

/** A part of the script that fills a database in one transaction: statements, or rows of a table (with its columns). */
type Part = string | { readonly table: string; readonly rows: AsyncIterable<Buffer | string> }

/**
 * Dumps everything that livehouse keeps, from one snapshot, into a new file: a psql script that creates the schema and
 * fills it in one transaction. A failure leaves no file. Every migration must be applied.
 * @throws db.copyRefused if the database holds nothing yet, a table or column is not livehouse's own, or the file
 * cannot be written; db.refused, db.unreachable
 */
export async function dumpDatabase(url: string, file: string, signal: AbortSignal): Promise<void> {
  await readDatabase(url, signal, async (parts) => {
    try {
      // Only for this user, as it holds personal data in clear text.
      const handle = await open(file, 'wx', 0o600)
      await pipeline(textOf(parts), handle.createWriteStream(), { signal }).catch(async (error: unknown) => {
        await rm(file)
        throw error
      })
    } catch (error) {
      const repair = 'Name one in a folder that this user may write, with room left'
      throw fileError(error, `${file} cannot be written`, repair)
    }
  })
}

/**
 * Runs a dump in a database without any schema of livehouse, in one transaction.
 * @throws db.copyRefused if the database has one, or the file is not a complete dump; db.refused, db.unreachable
 */
export async function restoreDatabase(url: string, file: string, signal: AbortSignal): Promise<void> {
  await writeDatabase({ url, setting: 'DATABASE_URL', signal, onTable: () => {} }, partsOfFile(file)).catch((error) => {
    throw fileError(error, `${file} cannot be read`, 'Name one that this user may read')
  })
}

interface Target {
  readonly url: string
  /** The setting or flag that names it in errors. */
  readonly setting: string
  readonly signal: AbortSignal
  readonly onTable: (name: string, rows: number) => void
}

/**
 * Copies a database straight into another one that has no schema of livehouse.
 * @throws as `dumpDatabase` and `restoreDatabase`
 */
export async function copyDatabase(from: string, to: Target): Promise<void> {
  await readDatabase(from, to.signal, async (parts) => await writeDatabase(to, parts))
}

async function readDatabase(url: string, signal: AbortSignal, work: (parts: AsyncIterable<Part>) => Promise<void>) {
  const closing = new AbortController()
  await using source = await openSession(url, 'DATABASE_URL', AbortSignal.any([signal, closing.signal]))
  await source.query('begin isolation level repeatable read, read only')
  try {
    await work(partsOf(source, url))
  } catch (error) {
    const translated = source.translate(error)
    // A connection in the middle of a COPY cannot be closed cleanly.
    closing.abort()
    throw translated
  }
}

async function* partsOf(source: Session, url: string): AsyncGenerator<Part> {
  const runs = await source.query('select from livehouse_ops.runs limit 1')
  if (runs.length === 0) throw copyRefused(`${describeTarget(url)} holds nothing yet`, 'Sync first, or name another')
  const schema = (await schemaStatements(await loadMigrations())).join(';\n')
  // The migrations comment on each of their tables and columns.
  const comments = schema.replaceAll('"', '').matchAll(/comment on (?:table|column) (\S+)\s+is\s/gi)
  const ownNames = new Set(Array.from(comments, ([, name]) => name))
  const tables = await readTables(source)
  const names = tables.flatMap(({ name, columns }) => [name, ...columns.map((column) => `${name}.${column}`)])
  const foreignName = names.find((name) => !ownNames.has(name.replaceAll('"', '')))
  if (foreignName) throw copyRefused(`${foreignName} is not livehouse's own`, 'Drop it, or move it to another schema')
  yield `begin;\nset local client_encoding to utf8;\nset local timezone to utc;\n${schema};\n`
  yield `truncate ${tables.map(({ name }) => name).join(', ')};\n`
  for (const { name, columns } of tables) {
    const table = `${name} (${columns.join(', ')})`
    yield { table, rows: readRows(source, table) }
  }
  const sequences = await source.query<{ set: string }>(
    `select format('select setval(''%I.%I'', %s);', schemaname, sequencename, last_value) as set from pg_sequences
     where schemaname = any($1) and last_value is not null`,
    [SCHEMAS],
  )
  const finalStatements = [...sequences.map(({ set }) => set), `analyze ${tables.map(({ name }) => name).join(', ')};`]
  yield `${finalStatements.join('\n')}\n${END}`
}

async function* readRows(source: Session, table: string): AsyncGenerator<Buffer> {
  try {
    yield* source.client.query(copyTo(`copy ${table} to stdout`))
  } catch (error) {
    throw source.translate(error)
  }
}

/**
 * The tables in the order of their creation, so that each follows those that it refers to. Tables that slices refer to,
 * or that triggers use when slices are inserted, come first. Names are quoted; generated columns are left out.
 */
async function readTables(session: Session) {
  return await session.query<{ readonly name: string; readonly columns: readonly string[] }>(
    `select format('%I.%I', n.nspname, c.relname) as name,
       (select array_agg(format('%I', a.attname) order by a.attnum) from pg_attribute a
         where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = '') as columns
     from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = any($1) and c.relkind = 'r' and c.relname <> all($2)
     order by c.relname not in ('source', 'partition_states', 'acceptances'), c.oid`,
    [SCHEMAS, migrationTables],
  )
}

async function* textOf(parts: AsyncIterable<Part>): AsyncGenerator<Buffer | string> {
  yield `${TITLE}\n\\set ON_ERROR_STOP on\n`
  for await (const part of parts) {
    if (typeof part === 'string') yield part
    else {
      yield `copy ${part.table} from stdin;\n`
      yield* part.rows
      yield '\\.\n'
    }
  }
}

async function writeDatabase({ url, setting, signal, onTable }: Target, parts: AsyncIterable<Part>): Promise<void> {
  await using target = await openSession(url, setting, signal)
  const schemas = await target.query('select from pg_namespace where nspname = any($1)', [SCHEMAS])
  if (schemas.length > 0)
    throw copyRefused(`${describeTarget(url)} is in use`, 'Name an empty database, or another LIVEHOUSE_DATA_DIR')
  try {
    for await (const part of parts) {
      if (typeof part === 'string') await target.query(part)
      else {
        const writing = target.client.query(copyFrom(`copy ${part.table} from stdin`))
        await pipeline(part.rows, writing, { signal })
        onTable(part.table.split(' ')[0] ?? '', writing.rowCount)
      }
    }
  } catch (error) {
    throw target.translate(error)
  }
}

async function* partsOfFile(file: string): AsyncGenerator<Part> {
  const cutShort = copyRefused(`${file} was cut short`, 'Use another dump')
  const lines = linesOf(file)
  const { value: title } = await lines.next()
  if (title !== TITLE) throw copyRefused(`${file} was not written by livehouse db dump`, 'Name another file')
  let statements = ''
  for await (const line of lines) {
    // This line is a command of psql.
    if (line.startsWith('\\')) continue
    const [, table] = COPY.exec(line) ?? []
    if (table === undefined) statements += `${line}\n`
    else {
      if (statements !== '') yield statements
      statements = ''
      yield { table, rows: rowsOf(lines, cutShort) }
    }
  }
  if (!statements.endsWith(END)) throw cutShort
  yield statements
}

/** The lines up to the one that ends the rows of a table. */
async function* rowsOf(lines: AsyncGenerator<string>, cutShort: LivehouseError): AsyncGenerator<string> {
  for (;;) {
    const { value, done } = await lines.next()
    if (done === true) throw cutShort
    if (value === '\\.') return
    yield `${value}\n`
  }
}

/** Splits at line feeds only, as a row may hold any other character that separates lines. */
async function* linesOf(file: string): AsyncGenerator<string> {
  let rest = ''
  for await (const chunk of createReadStream(file, 'utf8')) {
    const lines = `${rest}${chunk}`.split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
}

function fileError(error: unknown, reason: string, repair: string): unknown {
  if (!(error instanceof Error) || !('syscall' in error)) return error
  return copyRefused(`${reason} (${error.message})`, repair, error)
}

function copyRefused(reason: string, repair: string, cause?: unknown): LivehouseError<'db.copyRefused'> {
  return new LivehouseError('db.copyRefused', `Nothing was copied: ${reason}. ${repair}.`, {}, { cause })
}
