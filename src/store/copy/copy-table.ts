import { pipeline } from 'node:stream/promises'
import { from as copyFrom, to as copyTo } from 'pg-copy-streams'
import { LivehouseError } from '../../core/errors.ts'
import type { CopyTable } from './read-tables.ts'
import type { Session } from './session.ts'

/** What tells two tables of equal rows from others: how many there are, and a sum over a hash of each. */
interface Fingerprint {
  readonly rows: string
  readonly sum: string
}

/**
 * Copies the rows of a table into its empty twin, and holds the twin against it by count and content.
 * @returns how many rows
 * @throws db.copyRefused where the twin differs; db.refused, db.unreachable
 */
export async function copyTable(
  source: Session,
  target: Session,
  { name, columns }: CopyTable,
  signal: AbortSignal,
): Promise<number> {
  const list = columns.join(', ')
  const reading = source.client.query(copyTo(`copy (select ${list} from ${name}) to stdout`))
  const writing = target.client.query(copyFrom(`copy ${name} (${list}) from stdin`))
  const failures: unknown[] = []
  reading.once('error', (error) => failures.push(source.translate(error)))
  writing.once('error', (error) => failures.push(target.translate(error)))
  try {
    await pipeline(reading, writing, { signal })
  } catch (error) {
    // The side that failed first is the cause; the other only hears that its neighbour has gone.
    throw failures[0] ?? error
  }
  const [read, written] = await Promise.all([source, target].map((side) => fingerprintOf(side, name, list)))
  if (read?.rows === written?.rows && read?.sum === written?.sum) return Number(written?.rows)
  const reason = `${name} has ${read?.rows} rows, its copy ${written?.rows}${read?.rows === written?.rows ? ' with other contents' : ''}`
  throw new LivehouseError('db.copyRefused', `The copy was taken back: ${reason}. Run it again.`, { reason })
}

async function fingerprintOf(session: Session, name: string, list: string): Promise<Fingerprint | undefined> {
  // md5 because its value is the same on every machine and version.
  const [found] = await session.query<{ rows: string; sum: string }>(
    `select count(*) as rows, coalesce(sum(('x' || left(md5(row(${list})::text), 15))::bit(60)::bigint), 0) as sum from ${name}`,
  )
  return found
}
