import { randomInt } from 'node:crypto'
import * as fc from 'fast-check'
import { test } from 'vitest'
import { playSchedule } from '../helpers/model/play-schedule.ts'
import { schedules } from '../helpers/model/schedule.ts'
import { createTestDatabase } from '../helpers/postgres.ts'

/**
 * The same schedules each time, so that a red run says something about the change. `MODEL_SEED` sets another seed, or
 * `random`; `MODEL_RUNS` asks for more schedules; `MODEL_PATH`, which a red run prints, plays one again.
 */
const RUNS = Number(process.env.MODEL_RUNS ?? 67)
const SEED = process.env.MODEL_SEED ?? '20261120'

test('whatever the schedule of changes, faults, kills and re-runs, the tables equal the truth', async () => {
  await using database = await createTestDatabase()
  const seed = SEED === 'random' ? randomInt(2 ** 31 - 1) : Number(SEED)
  process.stdout.write(`model: ${RUNS} schedules, seed ${seed}\n`)
  const property = fc.asyncProperty(schedules, async (schedule) => await playSchedule(database, schedule))
  const path = process.env.MODEL_PATH ?? ''
  await fc.assert(property, { numRuns: RUNS, seed, path, endOnFailure: path !== '' })
})
