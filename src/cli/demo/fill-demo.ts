import { plannedChannel, type ServiceSettings } from '../../app/settings.ts'
import type { Kysely } from 'kysely'
import { syncPlan } from '../../app/run-backfill.ts'
import { runExtraction } from '../../app/run-extraction.ts'
import type { Log } from '../../core/log.ts'
import type { RunOutcome } from '../../core/outcome.ts'
import { streamNames } from '../../streams/registry.ts'
import { DAY, formatWallTime } from '../../core/wall-clock.ts'
import type { Database } from '../../store/database.ts'
import { countRows, readTableNames } from '../../store/run-query.ts'
import { type Emulator, startEmulator } from '../../emulator/server.ts'
import { countTruth, truthTables } from '../../emulator/truth.ts'
import type { World } from '../../emulator/world/world.ts'
import { claimSource } from '../../ledger/source.ts'
import { streams } from '../../streams/registry.ts'
import type { CliContext } from '../command.ts'

const TIME_ZONE = 'Asia/Shanghai'

/** How much the emulator makes up, as of `livehouse emulate`. */
interface DemoSize {
  readonly channels: number
  readonly viewers: number
  readonly days: number
  readonly seed: number
}

/** What a demo did, and its tables beside the emulator's. */
export interface FilledDemo {
  readonly outcome: RunOutcome
  readonly tables: readonly TableComparison[]
}

/**
 * Syncs the world of an emulator, which lives as long as this takes, into an empty database. The record of the run holds what the world was
 * made from, so that another process can make the same one.
 */
export async function fillDemo(context: CliContext, db: Kysely<Database>, size: DemoSize): Promise<FilledDemo> {
  const { clock, remark, signal } = context
  await using emulator = await startEmulator({ ...size, timeZone: TIME_ZONE, clock })
  const { world } = emulator
  remark(
    `emulator    ${emulator.baseUrl} (${size.channels} channels, ${size.viewers} viewers each, ${size.days} days of history)`,
  )
  const service = settingsOf(emulator)
  await claimSource(db, service)
  const nothing = { label: null, group: null, from: null, until: null, isTest: false }
  const configured = emulator.channelIds.map((channelId) => ({ channelId, ...nothing }))
  const historyFrom = world.endsAt - (size.days + 1) * DAY
  const database = { isAutoMigrated: true }
  const settings = { service, database, configured, channels: configured.map(plannedChannel), historyFrom }
  const outcome = await runExtraction(
    { ...context, log: withoutSlices(context.log) },
    {
      command: 'demo',
      asked: { ...size, ends_at: formatWallTime(world.endsAt), time_zone: TIME_ZONE },
      settings,
      db,
      namesChannels: false,
      streams,
      planStreams: (now) => syncPlan(db, settings, now),
    },
  )
  signal.throwIfAborted()
  const tables = await compareTables(db, world)
  return { outcome: withDifferences(outcome, tables), tables }
}

/** A table that holds something else than the emulator has is a bug, and the demo has failed. */
function withDifferences(outcome: RunOutcome, tables: readonly TableComparison[]): RunOutcome {
  const errors = tables
    .filter(({ landed, expected }) => landed !== expected)
    .map(({ table, landed, expected }) => {
      const message = `livehouse.${table} holds ${landed} rows, the emulator has ${expected}`
      return { stream: null, partition: null, code: 'internal' as const, message }
    })
  if (errors.length === 0) return outcome
  return { ...outcome, status: 'failed', errors: [...outcome.errors, ...errors] }
}

function settingsOf({ baseUrl, authUrl, appId, appSecret }: Emulator): ServiceSettings {
  return {
    baseUrl,
    authUrl,
    appId,
    appSecret,
    apiToken: null,
    timeZone: TIME_ZONE,
    maxCallsPerSecond: 0,
    concurrency: 8,
    listParams: 'query',
    isListParamsGiven: true,
    v1Budget: 10,
    v1BudgetScope: 'account',
    requestTimeoutMs: 30_000,
    proxies: { http: null, https: null, none: null },
  }
}

/** Progress tells how far each stream is; a line for each slice would hide what the demo shows. */
function withoutSlices(log: Log): Log {
  return { ...log, info: log.debug }
}

/** A table, how many rows landed, and how many the emulator's world has for it. */
export interface TableComparison {
  readonly table: string
  readonly landed: number
  readonly expected: number
}

/** Every table that a sync fills, and those that come with one of them, in the order of the contract. */
async function compareTables(db: Kysely<Database>, world: World): Promise<readonly TableComparison[]> {
  const filled: ReadonlySet<string> = new Set(streams.map(({ table }) => table))
  const ofStreams: ReadonlySet<string> = new Set(streamNames)
  const existing = await readTableNames(db)
  const expected = countTruth(world)
  const compared = truthTables.filter((table) => filled.has(table) || (!ofStreams.has(table) && existing.has(table)))
  return Promise.all(
    compared.map(async (table) => ({ table, landed: await countRows(db, table), expected: expected[table] })),
  )
}
