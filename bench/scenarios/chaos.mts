import { deepStrictEqual } from 'node:assert'
import { rm } from 'node:fs/promises'
import { type Kysely, sql } from 'kysely'
import { systemClock } from '../../src/core/clock.ts'
import { DAY, floorToMinute, formatWallDate, MINUTE, wallTimeAt } from '../../src/core/wall-clock.ts'
import { type Emulator, startEmulator } from '../../src/emulator/server.ts'
import type { Database } from '../../src/store/database.ts'
import { startEmbedded, stopEmbedded } from '../../src/store/embedded.ts'
import { migrateUp } from '../../src/store/migrate.ts'
import { openDatabase } from '../../src/store/pool.ts'
import { streams } from '../../src/streams/registry.ts'
import { createPassableFolder } from '../../test/helpers/operating-system.ts'
import { readAnswersTable, readStreamTable, sorted } from '../../test/helpers/read-table.ts'
import { createRollingWorld, type RollingWorld } from '../../test/helpers/rolling-world.ts'
import { environmentOf } from '../../test/helpers/run-verb.ts'
import { type Machine, startMachine } from '../lib/machine.mts'
import { atMost, type Measure } from '../lib/measures.mts'
import { playMishaps } from '../lib/mishaps.mts'
import type { Bench, Scenario } from '../lib/scenario.mts'
import { readWrites, recordWrites } from '../lib/write-record.mts'

const MACHINES = 8
const MISHAPS = 100
const TIME_ZONE = 'Asia/Shanghai'
const WORLD = { channels: 40, viewers: 30, days: 30, timeZone: TIME_ZONE }
/** The time whose rows appear during a round: less than the shortest lookback, so that a later sync reads it again. */
const ROLLED = 20 * 60 * MINUTE
/** How long to wait at most until no worker is busy, before the warehouse is compared with the service. */
const MOST_SECONDS_TO_REST = 90
const never = new AbortController().signal

/** Tests that killed, frozen and cut-off workers, and a restarting database, leave what one undisturbed run would. */
export const chaos: Scenario = {
  letter: 'chaos',
  title: `${MISHAPS} mishaps per round on ${MACHINES} workers: killed, frozen, cut off, the database restarted (--rounds N, --seed N)`,
  run: async (bench) => {
    const rounds = bench.isQuick ? 1 : bench.rounds
    const counts = new Map<string, number>()
    const problems: string[] = []
    for (let round = 0; round < rounds; round++) {
      const seed = bench.seed + round
      const beganAt = systemClock.now()
      const end = await playRound(bench, seed)
      for (const [what, count] of end.counts) counts.set(what, (counts.get(what) ?? 0) + count)
      problems.push(...end.problems)
      const summary = [...end.counts].map(([what, count]) => `${count} ${what}`).join(', ')
      const seconds = Math.round((systemClock.now() - beganAt) / 1000)
      bench.say(
        `round ${seed}, ${seconds} s: ${summary}: ${end.problems.length === 0 ? 'equal to the service' : 'WRONG'}`,
      )
      for (const problem of end.problems) bench.say(`  ${problem}`)
      if (end.problems.length > 0) bench.say(`  to repeat: npm run bench -- --only chaos --rounds 1 --seed ${seed}`)
    }
    return [
      ...[...counts].map(([name, value]): Measure => ({ name, value, unit: '' })),
      {
        name: `problems in ${rounds} rounds from seed ${bench.seed} on`,
        value: problems.length,
        unit: '',
        goal: atMost(0),
      },
    ]
  },
}

interface RoundEnd {
  readonly counts: ReadonlyMap<string, number>
  /** One sentence per problem. */
  readonly problems: readonly string[]
}

/** Plays a round with a warehouse and a service of its own. Keeps its folder if there is a problem. */
async function playRound(bench: Bench, seed: number): Promise<RoundEnd> {
  const folder = await createPassableFolder('chaos')
  const server = await startEmbedded(folder, systemClock, bench.signal)
  const endsAt = floorToMinute(wallTimeAt(systemClock.now(), TIME_ZONE))
  const rolling = createRollingWorld({ ...WORLD, seed, endsAt }, endsAt - ROLLED)
  const conditions = { latencyMs: 100, jitterMs: 50 }
  await using emulator = await startEmulator({ world: rolling.world, seed, conditions, timeZone: TIME_ZONE })
  const url = server.url('livehouse')
  const environment = {
    ...environmentOf(emulator, { url }),
    LIVEHOUSE_HISTORY_FROM: formatWallDate(endsAt - WORLD.days * DAY),
    LIVEHOUSE_CONCURRENCY: '4',
    LOG_LEVEL: 'error',
  }
  const options = { environment, concurrency: 3, folder, signal: bench.signal }
  const machines: Machine[] = []
  let problems: readonly string[] = ['the round did not finish']
  try {
    await createWarehouse(server.url('postgres'), url)
    await using db = await openDatabase(url, { maxConnections: 2 })
    const numbers = Array.from({ length: MACHINES }, (_, index) => index + 1)
    machines.push(...(await Promise.all(numbers.map((number) => startMachine(number, options)))))
    const count = bench.isQuick ? MISHAPS / 4 : MISHAPS
    const played = await playMishaps({
      ...options,
      db,
      machines,
      seed,
      count,
      // What a delayed worker still has to write is then older than what the service has.
      onMishap: (number) => change(rolling, endsAt - ROLLED * (1 - number / count)),
    })
    const unfinished = await waitForRest(db)
    const ends = await Promise.all(
      machines.splice(0).map(({ end, holders }) => end().then((failures) => ({ failures, holders }))),
    )
    const { writes, epochs, intrusions } = await readWrites(db, new Map(ends.flatMap(({ holders }) => [...holders])))
    const counts = new Map([...played.counts, ['rows and slices written', writes], ['leases', epochs]])
    problems = [
      ...played.problems,
      ...unfinished,
      ...ends.flatMap(({ failures }) => failures),
      ...intrusions,
      ...(await compare(db, emulator)),
    ]
    return { counts, problems }
  } finally {
    for (const machine of machines) await machine.end()
    await stopEmbedded(folder, never)
    if (problems.length === 0 || bench.signal.aborted) await rm(folder, { recursive: true, force: true })
    else bench.say(`  its warehouse and the logs of its workers are kept in ${folder}`)
  }
}

async function createWarehouse(adminUrl: string, url: string): Promise<void> {
  await using admin = await openDatabase(adminUrl, { maxConnections: 1 })
  await sql`create database livehouse`.execute(admin)
  await using db = await openDatabase(url, { maxConnections: 1 })
  await migrateUp(db)
  await recordWrites(db)
}

function change({ world, rollTo }: RollingWorld, now: number): void {
  rollTo(now)
  for (const { visitors, records } of world.channels.values()) {
    const [visitor] = visitors.rows
    if (visitor !== undefined) visitors.replace(visitor, { ...visitor, nick: `${visitor.nick}+` })
    const record = records.rows.at(-1)
    if (record !== undefined && record.enteredAt > now - ROLLED)
      records.replace(record, { ...record, onlineSeconds: record.onlineSeconds + 1 })
  }
}

/** Waits until no partition is leased or queued. @returns what still is after 90 s */
async function waitForRest(db: Kysely<Database>): Promise<readonly string[]> {
  for (let second = 0; ; second++) {
    await systemClock.sleep(1000, never)
    const { rows } = await sql<{ what: string }>`
      select name || ', held by ' || holder as what from livehouse_ops.leases
        where name like 'partition %' and expires_at > now()
      union all select singleton_key || ' is ' || state || ' in the queue' from pgboss.job
        where name = 'partitions' and state < 'completed'`.execute(db)
    // Five seconds at least: a worker that has resumed may still try to write its old work.
    if (second >= 5 && (rows.length === 0 || second >= MOST_SECONDS_TO_REST)) return rows.map(({ what }) => what)
  }
}

/** Compares the tables with the service. @returns which ones differ, and how */
async function compare(db: Kysely<Database>, emulator: Emulator): Promise<readonly string[]> {
  const truth = emulator.truth()
  const tables = [
    // The warehouse keeps the usage of earlier days too.
    ...streams.map(({ name }) => name).filter((name) => name !== 'manager_usage'),
    'signup_answers',
  ] as const
  const problems: string[] = []
  for (const name of tables) {
    const rows = name === 'signup_answers' ? await readAnswersTable(db) : await readStreamTable(db, name)
    try {
      deepStrictEqual(sorted(rows), sorted(truth[name] ?? []))
    } catch (error) {
      problems.push(`${name}: ${String(error).slice(0, 500)}`)
    }
  }
  return problems
}
