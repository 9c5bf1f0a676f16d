import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Kysely, sql } from 'kysely'
import { sync } from '../../src/cli/sync.ts'
import { systemClock } from '../../src/core/clock.ts'
import { DAY, floorToMinute, formatWallDate, wallTimeAt } from '../../src/core/wall-clock.ts'
import { startEmulator } from '../../src/emulator/server.ts'
import { createWorld } from '../../src/emulator/world/create-world.ts'
import type { Database } from '../../src/store/database.ts'
import { emptyTables } from './empty-tables.ts'
import { holdLock, untilBlocked } from './own-locks.ts'
import { createTestDatabase } from './postgres.ts'
import { environmentOf, runVerb } from './run-verb.ts'
import { type Child, startChild } from './start-child.ts'
import { createTemporaryFolder } from './temporary-folder.ts'

const TIME_ZONE = 'Asia/Shanghai'
/** The advisory lock that the test holds to make a process wait. */
const GATE = 4242

/** Starts a small account whose last event was days ago, so that coverage does not depend on the time of a run. */
export async function startKillBench() {
  const endsAt = floorToMinute(wallTimeAt(systemClock.now(), TIME_ZONE)) - 4 * DAY
  const world = createWorld({ seed: 3, channels: 1, viewers: 25, days: 3, endsAt, timeZone: TIME_ZONE })
  const resources = new AsyncDisposableStack()
  const database = resources.use(await createTestDatabase())
  const emulator = resources.use(await startEmulator({ world }))
  const { db } = database
  const channels = join(createTemporaryFolder('channels'), 'channels.csv')
  await writeFile(channels, `channel_id,until\n${emulator.channelIds[0]},${formatWallDate(endsAt + 2 * DAY)}\n`)
  const environment = {
    ...environmentOf(emulator, database),
    LIVEHOUSE_CHANNELS: `@${channels}`,
    LIVEHOUSE_HISTORY_FROM: formatWallDate(endsAt - 6 * DAY),
    LOG_LEVEL: 'info',
  }
  await installGates(db)
  let openGate = async (): Promise<void> => {}
  resources.defer(async () => await openGate())

  return {
    emulator,
    database,
    /** Empties the tables, ends every fault and opens the gate. */
    reset: async () => {
      await openGate()
      emulator.faults.length = 0
      await sql`update public.stop_at set point = 'none', number = 0`.execute(db)
      await emptyTables(db)
      await sql`select setval('public.writes', 1, false), setval('public.commits', 1, false),
        setval('public.landings', 1, false)`.execute(db)
    },
    startChild: (...flags: readonly string[]) => startChild(['sync', ...flags], environment),
    /** Runs the same sync in this process. @returns its exit code */
    syncHere: async () => (await runVerb(sync, [], { environment, clock: systemClock })).code,
    /** Makes a process wait before the n-th write or landing, or in the n-th commit of a run or slice, until `open`. */
    closeGate: async (at: 'write' | 'commit' | 'landing', number: number) => {
      openGate = await holdLock(db, GATE)
      await sql`update public.stop_at set point = ${at}, number = ${number}`.execute(db)
      return {
        /** Waits until a process is at the gate. @throws if one of `children` ends first */
        untilReached: async (...children: readonly Child[]) =>
          await untilBlocked(db, sql`locktype = 'advisory' and objid = ${sql.lit(GATE)}`, children),
        open: openGate,
      }
    },
    readCoverage: async () => {
      const { rows } = await sql`
        select stream, partition, range_agg(covers)::text as ranges from livehouse_ops.slices
        where status = 'landed' group by stream, partition order by stream, partition`.execute(db)
      return rows
    },
    /** Counts the writes and commits since the last reset. */
    countPoints: async () => {
      const { rows } = await sql<{ write: string; commit: string }>`
        select nextval('public.writes') - 1 as write, nextval('public.commits') - 1 as commit`.execute(db)
      return { write: Number(rows[0]?.write), commit: Number(rows[0]?.commit) }
    },
    [Symbol.asyncDispose]: async () => await resources.disposeAsync(),
  }
}

/** Excludes the progress of a run, which is written as often as time allows. */
const onColumns = (table: string) => (table === 'livehouse_ops.runs' ? ' of status' : '')

/** Creates triggers that count writes, commits and landings, and wait for the gate at the chosen one. */
async function installGates(db: Kysely<Database>): Promise<void> {
  const statements = [
    'create table public.stop_at (point text, number integer)',
    `insert into public.stop_at values ('none', 0)`,
    'create sequence public.writes',
    'create sequence public.commits',
    'create sequence public.landings',
    `create function public.pass() returns trigger language plpgsql as $$
    declare passing bigint := nextval(format('public.%ss', tg_argv[0])::regclass);
    begin
      if exists (select from public.stop_at where point = tg_argv[0] and number = passing) then
        perform pg_advisory_lock(${GATE});
        perform pg_advisory_unlock(${GATE});
      end if;
      return coalesce(new, old);
    end $$`,
    `create trigger gate_landing before insert on livehouse_ops.slices
      for each statement execute function public.pass('landing')`,
  ]
  for (const statement of statements) await sql.raw(statement).execute(db)
  const { rows } = await sql<{ name: string }>`
    select format('%I.%I', schemaname, tablename) as name from pg_tables
    where schemaname in ('livehouse', 'livehouse_ops') and tablename not in ('migrations', 'migration_lock', 'source',
      'bi_settings', 'call_paces', 'leases', 'locks')`.execute(db)
  for (const { name } of rows) {
    const gate = `create trigger gate before insert or update${onColumns(name)} on ${name}
      for each statement execute function public.pass('write')`
    await sql.raw(gate).execute(db)
  }
  for (const name of ['livehouse_ops.slices', 'livehouse_ops.runs']) {
    const gate = `create constraint trigger gate_commit after insert or update${onColumns(name)} on ${name}
      deferrable initially deferred for each row execute function public.pass('commit')`
    await sql.raw(gate).execute(db)
  }
}
