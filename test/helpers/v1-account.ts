import type { Command } from '../../src/cli/command.ts'
import { DAY, formatWallDate, parseWallTime, wallTimeAt } from '../../src/core/wall-clock.ts'
import { type Emulator, startEmulator } from '../../src/emulator/server.ts'
import type { RecordedCall } from '../../src/emulator/endpoint.ts'
import { createWorld } from '../../src/emulator/world/create-world.ts'
import type { WatchRecord } from '../../src/emulator/world/world.ts'
import { FIXED_NOW } from './emulated-service.ts'
import { createFakeClock } from './fake-clock.ts'
import { createTestDatabase, type TestDatabase } from './postgres.ts'
import { environmentOf, runVerb, type VerbRun } from './run-verb.ts'

const TIME_ZONE = 'Asia/Shanghai'
/** A backfill of the autumn of 2018 from version 1. */
export const V1_BACKFILL = ['--from', '2018-09-01', '--to', '2018-12-01', '--streams', 'watch_records_v1'] as const

/** Two channels with records of 2018, at a service whose days a test begins. */
export interface V1Account extends AsyncDisposable {
  readonly emulator: Emulator
  readonly database: TestDatabase
  /** The clock of the service, and of verbs that run in this process. */
  readonly clock: { nowMs: number }
  readonly nextDay: () => void
  readonly environment: (settings?: Readonly<Record<string, string>>) => Readonly<Record<string, string>>
  /** Gives the channels exactly so many old records. */
  readonly setRecords: (...counts: readonly number[]) => void
  /** Runs a verb with the settings of the account. */
  readonly run: (
    verb: Command,
    argv: readonly string[],
    settings?: Readonly<Record<string, string>>,
  ) => Promise<VerbRun>
  readonly callsOn46: () => readonly RecordedCall[]
  /** How many of them the service saw on each of its days. */
  readonly callsByDay: () => readonly number[]
}

export async function startV1Account(): Promise<V1Account> {
  const clock = createFakeClock({ startMs: FIXED_NOW, isAutomatic: true })
  const endsAt = wallTimeAt(FIXED_NOW, TIME_ZONE)
  const world = createWorld({ seed: 1, channels: 2, viewers: 5, days: 1, endsAt, timeZone: TIME_ZONE })
  const emulator = await startEmulator({ world, clock })
  const database = await createTestDatabase()
  const environment: V1Account['environment'] = (settings = {}) => ({
    ...environmentOf(emulator, database),
    ...settings,
  })
  const callsOn46 = () => emulator.calls.filter(({ endpoint }) => endpoint === 'userRecords')
  return {
    emulator,
    database,
    clock,
    nextDay: () => void (clock.nowMs += DAY * 1000),
    environment,
    setRecords: (...counts) => {
      for (const [place, { oldRecords }] of [...world.channels.values()].entries()) {
        const [template] = oldRecords.rows
        if (!template) throw new Error('no old record')
        for (const row of oldRecords.rows.slice()) oldRecords.remove(row)
        oldRecords.add(...oldRows(template, place, counts[place] ?? 0))
      }
    },
    run: async (verb, argv, settings) => await runVerb(verb, argv, { environment: environment(settings), clock }),
    callsOn46,
    callsByDay: () => {
      const days = Map.groupBy(callsOn46(), ({ at }) => formatWallDate(wallTimeAt(at, TIME_ZONE)))
      return [...days.values()].map(({ length }) => length)
    },
    [Symbol.asyncDispose]: async () => {
      await emulator[Symbol.asyncDispose]()
      await database[Symbol.asyncDispose]()
    },
  }
}

function oldRows(template: WatchRecord, place: number, count: number): readonly WatchRecord[] {
  const start = parseWallTime('2018-10-01') ?? 0
  return Array.from({ length: count }, (_, index) => ({
    ...template,
    recordId: String(1_000_000 * (place + 1) + index),
    userId: `u${index}`,
    enteredAt: start + index * 600,
    leftAt: start + index * 600 + 300,
  }))
}
