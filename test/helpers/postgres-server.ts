import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm, statfs } from 'node:fs/promises'
import { get } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Kysely, sql } from 'kysely'
import type { TestProject } from 'vitest/node'
import { publishBi } from '../../src/bi/publish/publish-bi.ts'
import { systemClock } from '../../src/core/clock.ts'
import type { Database } from '../../src/store/database.ts'
import { locateHome } from '../../src/store/embedded/home.ts'
import { startEmbedded, stopEmbedded } from '../../src/store/embedded.ts'
import { migrateUp } from '../../src/store/migrate.ts'
import { openDatabase } from '../../src/store/pool.ts'
import { superuserUrl } from './superuser-url.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** The URL of a database on this run's server, for a user who may create databases and roles. */
    postgresUrl: string
    /** The names of databases to copy: one with every migration, and one with the analysts' views too. */
    templates: Readonly<Record<'migrated' | 'published', string>>
  }
}

const IMAGE = 'postgres:18-alpine'
const PING_MS = 1000
const ENOUGH_BYTES = 4 * 2 ** 30
const never = new AbortController().signal

/** One Postgres per run: `TEST_DATABASE_URL`, else a container if a Docker engine answers, else the embedded one. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = givenServer() ?? (await containerServer()) ?? (await embeddedServer())
  process.stderr.write(`tests use ${server.choice}\n`)
  project.provide('postgresUrl', server.url)
  const nameOf = (state: string) => `livehouse_${state}_${randomUUID().replaceAll('-', '')}`
  const templates = { migrated: nameOf('migrated'), published: nameOf('published') }
  const stop = async () => {
    try {
      await using admin = await openDatabase(server.url)
      for (const name of Object.values(templates)) await sql`drop database if exists ${sql.id(name)}`.execute(admin)
    } finally {
      await server.stop()
    }
  }
  try {
    await createTemplate(server.url, templates.migrated, 'template0', migrateUp)
    await createTemplate(server.url, templates.published, templates.migrated, publishBi)
  } catch (error) {
    await stop()
    throw error
  }
  project.provide('templates', templates)
  return stop
}

/** Creates a database that accepts no connections, because Postgres does not copy a database that is in use. */
async function createTemplate(
  serverUrl: string,
  name: string,
  origin: string,
  fill: (db: Kysely<Database>) => Promise<unknown>,
): Promise<void> {
  await using admin = await openDatabase(serverUrl)
  await sql`create database ${sql.id(name)} template ${sql.id(origin)} encoding 'UTF8'`.execute(admin)
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  {
    await using db = await openDatabase(url.href)
    await fill(db)
  }
  await sql`alter database ${sql.id(name)} with allow_connections false`.execute(admin)
}

function givenServer() {
  const url = process.env.TEST_DATABASE_URL
  return url ? { choice: 'the Postgres of TEST_DATABASE_URL', url, stop: async () => {} } : undefined
}

async function containerServer() {
  if (!(await isDockerRunning())) return undefined
  const { PostgreSqlContainer } = await import('@testcontainers/postgresql')
  try {
    const container = await new PostgreSqlContainer(IMAGE).withStartupTimeout(60_000).start()
    return {
      choice: `a container of ${IMAGE}`,
      url: container.getConnectionUri(),
      stop: async () => {
        await container.stop()
      },
    }
  } catch (error) {
    // The engine may have neither the image nor a network: the tests still work offline.
    process.stderr.write(`no container: ${error instanceof Error ? error.message : String(error)}\n`)
    return undefined
  }
}

/** Checked before the library is loaded, because that would search for an engine for a long time. */
async function isDockerRunning(): Promise<boolean> {
  const host = process.env.DOCKER_HOST ?? 'unix:///var/run/docker.sock'
  const address = host.startsWith('unix://')
    ? { socketPath: host.slice('unix://'.length) }
    : { host: new URL(host).hostname, port: new URL(host).port }
  return new Promise((resolve) => {
    const request = get({ ...address, path: '/_ping', timeout: PING_MS }, (response) => {
      response.resume()
      resolve(response.statusCode === 200)
    })
    request.on('timeout', () => request.destroy())
    request.on('error', () => resolve(false))
  })
}

/** In memory if there is enough: a database is a thousand files, which take ten times as long on a disk. */
async function fastestFolder(): Promise<string> {
  const memory = '/dev/shm'
  const room = await statfs(memory)
    .then(({ bavail, bsize }) => bavail * bsize)
    .catch(() => 0)
  return room >= ENOUGH_BYTES ? memory : tmpdir()
}

async function embeddedServer() {
  const dataDir = await mkdtemp(join(await fastestFolder(), 'livehouse-test-'))
  const guard = spawn(process.execPath, [join(import.meta.dirname, 'end-with-parent.ts'), dataDir], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  })
  guard.unref()
  const stop = async () => {
    await stopEmbedded(dataDir, never)
    // If root runs the tests with a private TMPDIR, the data is elsewhere.
    const { place } = await locateHome(dataDir)
    for (const path of [place, dataDir]) await rm(path, { recursive: true, force: true })
    guard.stdin.end()
  }
  try {
    const url = await superuserUrl(await startEmbedded(dataDir, systemClock, never), dataDir)
    await using db = await openDatabase(url)
    // Speed over safety: no data has to survive a power cut, and thousands of sessions log in with this password.
    await sql`alter system set fsync = off`.execute(db)
    await sql`alter system set scram_iterations = 1`.execute(db)
    await sql`select pg_reload_conf()`.execute(db)
    await sql.raw(`set scram_iterations = 1; alter role postgres password '${new URL(url).password}'`).execute(db)
    return { choice: `an embedded PostgreSQL in ${dataDir}`, url, stop }
  } catch (error) {
    await stop()
    throw error
  }
}
