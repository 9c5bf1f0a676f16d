import type { Kysely } from 'kysely'
import type { Database } from '../../db/database.ts'
import { runQuery } from '../../db/run-query.ts'
import { formatTable, type TableCell } from '../table.ts'
import type { TableComparison } from './compare-tables.ts'
import { readyQueries } from './ready-queries.ts'

/** What landed beside what the service has. */
export function describeTables(tables: readonly TableComparison[]): string[] {
  const rows = tables.map(({ table, landed, expected }) => [
    `livehouse.${table}`,
    landed.toLocaleString('en-US'),
    expected.toLocaleString('en-US'),
    landed === expected ? '✓' : '✗',
  ])
  return formatTable(['table', 'rows', 'at the source', ''], rows)
}

/** The ready queries, each with the answer that the tables give now. */
export async function answerQueries(db: Kysely<Database>): Promise<string[]> {
  const answers = await Promise.all(
    readyQueries.map(async ({ title, text }) => [
      title,
      '',
      ...indent(`${text};`),
      '',
      ...(await answer(db, text)),
      '',
    ]),
  )
  return answers.flat()
}

async function answer(db: Kysely<Database>, text: string): Promise<string[]> {
  const rows = await runQuery(db, text)
  const columns = Object.keys(rows[0] ?? {})
  if (columns.length === 0) return ['  (no rows)']
  return indent(
    formatTable(
      columns,
      rows.map((row) => columns.map((column) => cellOf(row[column]))),
    ).join('\n'),
  )
}

function cellOf(value: unknown): TableCell {
  const isPlain = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' || value === null
  return isPlain ? value : JSON.stringify(value)
}

function indent(text: string): string[] {
  return text.split('\n').map((line) => `  ${line}`)
}

/** How psql and BI tools reach the demo's database. @param url of it; its password is not shown */
export function describeConnection(url: string, dataDir: string): string[] {
  const { hostname, port, username, pathname } = new URL(url)
  const database = pathname.slice(1)
  return [
    'Connect with psql, or with any BI tool that speaks PostgreSQL',
    '',
    `  npx livehouse db psql --database ${database}`,
    `  npx livehouse db url --database ${database}     the whole URL, with the password`,
    '',
    `  host ${hostname}   port ${port}   user ${username}   database ${database}   no TLS`,
    '',
    `It is the PostgreSQL in ${dataDir}, and it goes on running: npx livehouse db stop ends it.`,
    'The next demo starts from an empty database again. For your own account: fill in .env (see .env.example), then',
    'npx livehouse sync.',
  ]
}
