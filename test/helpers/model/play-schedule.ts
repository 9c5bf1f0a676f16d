import { type KyselyPlugin, sql } from 'kysely'
import type { Clock } from '../../../src/core/clock.ts'
import { LivehouseError } from '../../../src/core/errors.ts'
import type { FetchPage } from '../../../src/core/page.ts'
import { DAY, wallTimeAt } from '../../../src/core/wall-clock.ts'
import { type Emulator, startEmulator } from '../../../src/emulator/server.ts'
import { openDatabase } from '../../../src/store/pool.ts'
import type { RunResult } from '../../../src/sync/tally.ts'
import { connectClient } from '../connect-client.ts'
import { emptyTables } from '../empty-tables.ts'
import { FIXED_NOW } from '../emulated-service.ts'
import { emptyBody, errcode, refusal } from '../fault-effects.ts'
import type { TestDatabase } from '../postgres.ts'
import { syncStreams, TIME_ZONE } from '../sync-streams.ts'
import { withParameters } from '../with-parameters.ts'
import { createLaw } from '../worlds/law.ts'
import { passing } from '../worlds/troubles.ts'
import { createModelWorld, LOOKBACK_DAYS, streamsOf } from './model-world.ts'
import type { Mutation, Schedule, Trouble } from './schedule.ts'

const HISTORY_DAYS = 9
const faults = [...passing, emptyBody(), errcode(5), refusal(500002)]

/** Plays a schedule with an emulator and an emptied database, and checks the law. @throws if the law is broken */
export async function playSchedule(database: TestDatabase, schedule: Schedule): Promise<void> {
  const { list } = schedule
  const streams = streamsOf[list]
  await emptyTables(database.db)
  const time = { nowMs: FIXED_NOW }
  const clock: Clock = { now: () => time.nowMs, sleep: async () => {} }
  const now = () => wallTimeAt(time.nowMs, TIME_ZONE)
  const { world, mutate } = createModelWorld(schedule.ages)
  await using emulator = await startEmulator({ clock, world, switches: schedule.switches })
  await using connection = connectClient(emulator.baseUrl, { apiToken: emulator.apiToken })
  const account = { database, emulator, streams, now }
  const law = createLaw(account, LOOKBACK_DAYS[list], { isToTheMinute: false, without: [] }, false)
  const scope = { channels: emulator.channelIds, from: '2000-01-01' }
  const change = (mutation: Mutation) => law.change(() => mutate(list, mutation, now()))
  const sync = async (trouble: Trouble): Promise<RunResult | undefined> => {
    resetFaults(emulator, schedule.clamp)
    await using session = await openRun(database, trouble)
    let calls = 0
    let hasHappened = false
    const fetchPage: FetchPage = async (request, context) => {
      if (trouble.kind !== 'drift' || request.page > 1) calls++
      if (calls === ('at' in trouble ? trouble.at : 0) && !hasHappened) {
        hasHappened = true
        if (trouble.kind === 'abort')
          session.abort(new LivehouseError('run.interrupted', 'interrupted', { signal: 'SIGTERM' }))
        if (trouble.kind === 'drift') change(trouble.mutation)
        if (trouble.kind === 'terminate') await session.terminate()
      }
      return await session.track(connection.fetchPage(request, context))
    }
    if (trouble.kind === 'fault') {
      const effect = faults[trouble.fault % faults.length]
      if (effect)
        emulator.faults.push({ effect, times: trouble.times, ...(trouble.page > 0 && { page: trouble.page }) })
    }
    try {
      return await syncStreams(session.db, {
        ...schedule,
        streams,
        clock,
        emulator,
        fetchPage,
        historyFrom: wallTimeAt(FIXED_NOW, TIME_ZONE) - HISTORY_DAYS * DAY,
        signal: session.signal,
      })
    } catch (error) {
      if (trouble.kind === 'kill' || trouble.kind === 'terminate') return undefined
      throw error
    }
  }

  const run = async (trouble: Trouble): Promise<RunResult | undefined> => {
    const before = await law.beforeRun()
    const result = await sync(trouble)
    const end = { code: result?.status === 'ok' ? 0 : 3, startedAt: now() }
    await law.afterRun(before, { scope, end, isLie: false, hasMore: false })
    if (end.code === 0) await law.requireExact(before)
    return result
  }

  for (const step of schedule.steps) {
    if (step.kind === 'mutate') change(step.mutation)
    else if (step.kind === 'advance') time.nowMs += step.minutes * 60_000
    else await run(step.trouble)
  }
  // The second proven reading that misses a row marks it. If over a tenth of the rows is missing, the first reading is
  // not believed until another one, an hour later, agrees.
  let last = await run({ kind: 'none' })
  if (law.hasRemovals()) {
    time.nowMs += 61 * 60_000
    await run({ kind: 'none' })
    last = await run({ kind: 'none' })
  }
  if (last?.status !== 'ok') throw new Error(`the last sync is ${JSON.stringify(last)}`)
  await law.atRest()
}

function resetFaults({ faults: queue }: Emulator, clamp = Infinity): void {
  queue.length = 0
  if (clamp === Infinity) return
  queue.push({
    effect: { name: 'clamp', query: (query) => ({ ...query, pageSize: Math.min(query.pageSize, clamp) }) },
  })
}

/** Opens a session for a run: one of its own if the run will be killed, otherwise the test's. */
async function openRun({ db, url }: TestDatabase, trouble: Trouble) {
  const controller = new AbortController()
  const calls = new Set<Promise<unknown>>()
  const isMortal = trouble.kind === 'kill' || trouble.kind === 'terminate'
  const own = isMortal ? await openDatabase(withParameters(url, { application_name: 'mortal' })) : undefined
  const die = () => controller.abort(new Error('killed'))
  return {
    db: (trouble.kind === 'kill' ? own?.withPlugin(mortalPlugin(trouble.at, die)) : own) ?? db,
    signal: controller.signal,
    abort: (reason: unknown) => controller.abort(reason),
    /** Ends every connection of this run, as a stopping server does. */
    terminate: async () => {
      await sql`select pg_terminate_backend(pid) from pg_stat_activity
        where application_name = 'mortal' and datname = current_database()`.execute(db)
    },
    /** Tracks a call of the run, so that none continues after its end. */
    track: async <T>(call: Promise<T>): Promise<T> => {
      calls.add(call)
      return await call
    },
    [Symbol.asyncDispose]: async () => {
      if (own === undefined) return
      die()
      await Promise.allSettled(calls)
      await own.destroy()
      // The leases of a killed run have expired by the time of the next one.
      await sql`update livehouse_ops.leases set expires_at = now()`.execute(db)
    },
  }
}

/** Simulates a process that dies before its `at`-th statement: neither this one nor any later one is sent. */
function mortalPlugin(at: number, onDeath: () => void): KyselyPlugin {
  let statements = 0
  return {
    transformQuery: ({ node }) => {
      if (++statements < at) return node
      onDeath()
      throw new Error('killed')
    },
    transformResult: async ({ result }) => result,
  }
}
