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
/** What comes to be during a round: less than the shortest lookback, so that a later sync looks there again. */
const ROLLED = 20 * 60 * MINUTE
/** What the service has is looked at last when nobody is at work any more. */
const MOST_SECONDS_TO_REST = 90
const never = new AbortController().signal

/** Whether workers that are killed, frozen and cut off, and a database that restarts, leave what one quiet run would have. */
export const chaos: Scenario = {
  letter: 'chaos',
  title: `${MISHAPS} mishaps a round on ${MACHINES} workers: killed, frozen, cut off, the database restarted (--rounds N, --seed N)`,
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
      const told = [...end.counts].map(([what, count]) => `${count} ${what}`).join(', ')
      const seconds = Math.round((systemClock.now() - beganAt) / 1000)
      bench.say(
        `round ${seed}, ${seconds} s: ${told}: ${end.problems.length === 0 ? 'as the service has it' : 'WRONG'}`,
      )
      for (const problem of end.problems) bench.say(`  ${problem}`)
      if (end.problems.length > 0) bench.say(`  again: npm run bench -- --only chaos --rounds 1 --seed ${seed}`)
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
  /** Sentences; none when all is as it should be. */
  readonly problems: readonly string[]
}

/** A round has a warehouse and a service of its own. One that shows a problem leaves its folder. */
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
  let problems: readonly string[] = ['it did not come to its end']
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
      // What a worker still has in hand is older than what the service has now.
      onMishap: (number) => change(rolling, endsAt - ROLLED * (1 - number / count)),
    })
    const rest = await untilAtRest(db)
    const ends = await Promise.all(
      machines.splice(0).map(({ end, holders }) => end().then((said) => ({ said, holders }))),
    )
    const { writes, epochs, intrusions } = await readWrites(db, new Map(ends.flatMap(({ holders }) => [...holders])))
    const counts = new Map([...played.counts, ['rows and slices written', writes], ['leases', epochs]])
    problems = [
      ...played.problems,
      ...rest,
      ...ends.flatMap(({ said }) => said),
      ...intrusions,
      ...(await compare(db, emulator)),
    ]
    return { counts, problems }
  } finally {
    for (const machine of machines) await machine.end()
    await stopEmbedded(folder, never)
    if (problems.length === 0 || bench.signal.aborted) await rm(folder, { recursive: true, force: true })
    else bench.say(`  kept with its warehouse and what its workers have logged: ${folder}`)
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

/** Waits until no partition is at work and none is queued. @returns what still is after a while */
async function untilAtRest(db: Kysely<Database>): Promise<readonly string[]> {
  for (let second = 0; ; second++) {
    await systemClock.sleep(1000, never)
    const { rows } = await sql<{ what: string }>`
      select name || ', held by ' || holder as what from livehouse_ops.leases
        where name like 'partition %' and expires_at > now()
      union all select singleton_key || ' is ' || state || ' in the queue' from pgboss.job
        where name = 'partitions' and state < 'completed'`.execute(db)
    // At least as long as a worker that wakes up takes to write its unfinished work.
    if (second >= 5 && (rows.length === 0 || second >= MOST_SECONDS_TO_REST)) return rows.map(({ what }) => what)
  }
}

/** @returns which tables differ from what the service has, and by what */
async function compare(db: Kysely<Database>, emulator: Emulator): Promise<readonly string[]> {
  const truth = emulator.truth()
  const tables = [
    // Of which the warehouse keeps each day's.
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
