import { createReadStream, createWriteStream } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { pipeline } from 'node:stream/promises'
import { type Kysely, sql } from 'kysely'
import { Client } from 'pg'
import { from as copyFrom, to as copyTo } from 'pg-copy-streams'
import { systemClock } from '../../src/core/clock.ts'
import type { Database } from '../../src/store/database.ts'
import { locateHome } from '../../src/store/embedded/home.ts'
import { startEmbedded, stopEmbedded } from '../../src/store/embedded.ts'
import { migrateUp } from '../../src/store/migrate.ts'
import { openDatabase } from '../../src/store/pool.ts'
import { superuserUrl } from '../../test/helpers/superuser-url.ts'
import { readTreeCpuUs } from './process-tree.mts'

const TEMPLATE = 'livehouse_template'

/** What the server used between two readings. */
export interface DatabaseUse {
  /** Of all the server's processes; undefined if the system does not report it. */
  readonly cpuUs: number | undefined
  readonly walBytes: number
}

export interface BenchServer extends AsyncDisposable {
  /** Creates a migrated, empty warehouse, and drops an earlier one of that name. @returns its URL */
  readonly fresh: (name: string) => Promise<string>
  /** Drops all warehouses, so that autovacuum in them does not count towards later measurements. */
  readonly clear: () => Promise<void>
  readonly measure: <T>(work: () => Promise<T>) => Promise<{ readonly result: T; readonly use: DatabaseUse }>
  readonly open: (url: string) => Promise<Kysely<Database>>
}

/** Starts an embedded PostgreSQL, which disposal removes. */
export async function openServer(signal: AbortSignal): Promise<BenchServer> {
  const dataDir = await mkdtemp(join(tmpdir(), 'livehouse-bench-'))
  const server = await startEmbedded(dataDir, systemClock, signal)
  const { pgdata, place } = await locateHome(dataDir)
  const postmaster = Number((await readFile(join(pgdata, 'postmaster.pid'), 'utf8')).split('\n')[0])
  const admin = await openDatabase(server.url('postgres'), { maxConnections: 1 })
  const superuser = await openDatabase(await superuserUrl(server, dataDir), { maxConnections: 1 })
  const open = async (url: string) => await openDatabase(url, { maxConnections: 1 })
  const readUse = async (): Promise<DatabaseUse> => {
    const { rows } = await sql<{ bytes: string }>`select pg_current_wal_lsn() - '0/0'::pg_lsn as bytes`.execute(admin)
    return { cpuUs: await readTreeCpuUs(postmaster), walBytes: Number(rows[0]?.bytes) }
  }
  await sql`create database ${sql.id(TEMPLATE)}`.execute(admin)
  const template = await open(server.url(TEMPLATE))
  await migrateUp(template)
  await template.destroy()

  const warehouses = new Set<string>()
  const drop = async (name: string): Promise<void> => {
    await sql`drop database if exists ${sql.id(name)} with (force)`.execute(admin)
    warehouses.delete(name)
  }

  return {
    fresh: async (name) => {
      await drop(name)
      warehouses.add(name)
      await sql`create database ${sql.id(name)} template ${sql.id(TEMPLATE)}`.execute(admin)
      // Otherwise what the creation left to write would count towards the next measurement.
      await sql`checkpoint`.execute(superuser)
      return server.url(name)
    },
    clear: async () => {
      for (const name of warehouses) await drop(name)
    },
    measure: async (work) => {
      const before = await readUse()
      const result = await work()
      const after = await readUse()
      const cpuUs = after.cpuUs === undefined || before.cpuUs === undefined ? undefined : after.cpuUs - before.cpuUs
      return { result, use: { cpuUs, walBytes: after.walBytes - before.walBytes } }
    },
    open,
    [Symbol.asyncDispose]: async () => {
      await admin.destroy()
      await superuser.destroy()
      await stopEmbedded(dataDir, new AbortController().signal)
      for (const path of [place, dataDir]) await rm(path, { recursive: true, force: true })
    },
  }
}

/** Writes a table's rows to a file in the form that COPY reads. */
export async function saveRows(url: string, table: string, file: string): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    await pipeline(client.query(copyTo(`copy (select * from ${table}) to stdout`)), createWriteStream(file))
  } finally {
    await client.end()
  }
}

/** Loads the rows into an equal empty table, with its indexes, by one plain COPY. @returns the COPY's milliseconds */
export async function copyRows(url: string, table: string, file: string): Promise<number> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    await client.query('drop schema if exists bench cascade')
    await client.query('create schema bench')
    await client.query(`create table bench.copied (like ${table} including all)`)
    const startedAt = performance.now()
    await pipeline(
      createReadStream(file, { highWaterMark: 1 << 20 }),
      client.query(copyFrom('copy bench.copied from stdin')),
    )
    return performance.now() - startedAt
  } finally {
    await client.end()
  }
}

export interface TableState {
  readonly rows: number
  readonly deadRows: number
}

export async function readTable(db: Kysely<Database>, table: string): Promise<TableState> {
  await sql`select pg_stat_force_next_flush()`.execute(db)
  const { rows } = await sql<{ rows: string; dead: string }>`
    select (select count(*) from ${sql.raw(table)}) as rows, n_dead_tup as dead
    from pg_stat_user_tables where relid = ${table}::regclass`.execute(db)
  return { rows: Number(rows[0]?.rows), deadRows: Number(rows[0]?.dead) }
}
