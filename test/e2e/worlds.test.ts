import { randomInt } from 'node:crypto'
import * as fc from 'fast-check'
import { test } from 'vitest'
import { createTestDatabase } from '../helpers/postgres.ts'
import { playScenario } from '../helpers/worlds/play-scenario.ts'
import { scenarios } from '../helpers/worlds/scenario.ts'

/** As in `model.test.ts`: the same ones each time, unless `MODEL_SEED`, `MODEL_RUNS` and `MODEL_PATH` say otherwise. */
const RUNS = Number(process.env.MODEL_RUNS ?? 6)
const SEED = process.env.MODEL_SEED ?? '20261122'

test('whatever the service does, no run is falsely green, and no row is lost or doubled once it recovers', async () => {
  await using database = await createTestDatabase()
  const seed = SEED === 'random' ? randomInt(2 ** 31 - 1) : Number(SEED)
  process.stdout.write(`worlds: ${RUNS} scenarios, seed ${seed}\n`)
  const property = fc.asyncProperty(scenarios, async (scenario) => await playScenario(database, scenario))
  await fc.assert(property, { numRuns: RUNS, seed, path: process.env.MODEL_PATH ?? '', endOnFailure: true })
})
