import { createReadStream } from 'node:fs'
import { open, rm } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { from as copyFrom, to as copyTo } from 'pg-copy-streams'
import { LivehouseError } from '../core/errors.ts'
import { COPIED_SCHEMAS, readSequences, readTables } from './copy-database.ts'
import { openSession, type Session } from './copy-session.ts'
import { describeTarget } from './database-url.ts'
import { schemaStatements } from './migration-sql.ts'
import { loadMigrations } from './migrations-folder.ts'

/** What a dump begins with; restoring runs no other file. */
const TITLE = '-- What livehouse db dump wrote.'
/** What a dump ends with; without it, nothing of it stays. */
const END = 'commit;\n'
const COPY = /^copy .* from stdin;$/

/**
 * Writes everything that livehouse keeps, the ledger included, from one snapshot into a new file: a script for psql
 * that makes the schema and fills it in one transaction. The database must have had every migration. A failure leaves
 * no file.
 * @throws db.copyRefused where a table is not livehouse's own; db.refused, db.unreachable, errors of the file system
 */
export async function dumpDatabase(url: string, file: string, signal: AbortSignal): Promise<void> {
  const failed = new AbortController()
  await using source = await openSession(url, 'DATABASE_URL', AbortSignal.any([signal, failed.signal]))
  await source.query('begin isolation level repeatable read, read only')
  // It holds personal data in clear.
  const handle = await open(file, 'wx', 0o600)
  try {
    await pipeline(scriptOf(source), handle.createWriteStream(), { signal })
  } catch (error) {
    const translated = source.translate(error)
    // A connection in the midst of a COPY cannot be closed in order.
    failed.abort()
    await rm(file)
    throw translated
  }
}

async function* scriptOf(source: Session): AsyncGenerator {
  const schema = (await schemaStatements(await loadMigrations())).join(';\n')
  const tables = await readTables(source)
  const foreign = tables.find(({ name }) => !schema.includes(name))
  if (foreign) throw refused(`${foreign.name} is not a table of livehouse`, 'Drop it, or move it to another schema')
  yield `${TITLE}\n\\set ON_ERROR_STOP on\nbegin;\nset local client_encoding to utf8;\nset local timezone to utc;\n`
  yield `${schema};\ntruncate ${tables.map(({ name }) => name).join(', ')};\n`
  for (const { name, columns } of tables) {
    const list = columns.join(', ')
    yield `copy ${name} (${list}) from stdin;\n`
    yield* source.client.query(copyTo(`copy ${name} (${list}) to stdout`))
    yield '\\.\n'
  }
  for (const { name, value } of await readSequences(source)) yield `select setval('${name}', ${value});\n`
  yield END
}

/**
 * Runs a dump in a database without any schema of livehouse, in one transaction: all or nothing.
 * @throws db.copyRefused where the database has such a schema, or the file is no whole dump; db.refused, db.unreachable
 */
export async function restoreDatabase(url: string, file: string, signal: AbortSignal): Promise<void> {
  await using target = await openSession(url, 'DATABASE_URL', signal)
  const used = await target.query('select from pg_namespace where nspname = any($1)', [COPIED_SCHEMAS])
  if (used.length > 0)
    throw refused(`${describeTarget(url)} is in use`, 'Name an empty database, or another LIVEHOUSE_DATA_DIR')
  const lines = linesOf(file)
  const { value: title } = await lines.next()
  if (title !== TITLE) throw refused(`${file} is not what livehouse db dump writes`, 'Name another file')
  let statements = ''
  try {
    for await (const line of lines) {
      // A command of psql.
      if (line.startsWith('\\')) continue
      if (!COPY.test(line)) {
        statements += `${line}\n`
        continue
      }
      await target.query(statements)
      statements = ''
      await pipeline(rowsOf(lines, file), target.client.query(copyFrom(line)), { signal })
    }
    if (!statements.endsWith(END)) throw cutShort(file)
    await target.query(statements)
  } catch (error) {
    throw target.translate(error)
  }
}

/** The lines up to the one that ends the rows of a table. */
async function* rowsOf(lines: AsyncGenerator<string>, file: string): AsyncGenerator<string> {
  for (;;) {
    const { value, done } = await lines.next()
    if (done === true) throw cutShort(file)
    if (value === '\\.') return
    yield `${value}\n`
  }
}

/** By line feeds alone: a row may hold any other character that separates lines. */
async function* linesOf(file: string): AsyncGenerator<string> {
  let rest = ''
  for await (const chunk of createReadStream(file, 'utf8')) {
    const lines = `${rest}${chunk}`.split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
}

function cutShort(file: string): LivehouseError<'db.copyRefused'> {
  return refused(`${file} was cut short`, 'Use another dump')
}

function refused(reason: string, repair: string): LivehouseError<'db.copyRefused'> {
  return new LivehouseError('db.copyRefused', `Nothing was dumped or restored: ${reason}. ${repair}.`, { reason })
}
