import { sql } from 'kysely'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { run } from '../../src/cli/run.ts'
import type { JobDefinition } from '../../src/core/define-job.ts'
import { startAccount } from '../helpers/start-account.ts'
import { createTemporaryFolder } from '../helpers/temporary-folder.ts'
import { ofTest } from '../helpers/of-file.ts'

const folder = createTemporaryFolder('jobs')
const account = ofTest(() => startAccount({ viewers: 150 }))

/** Runs a job of this definition; returns what it says of its streams. */
async function runJob(definition: Omit<Extract<JobDefinition, { kind?: 'sync' }>, 'cron'>) {
  // Each has a file of its own: one that has been loaded is not read again.
  const name = `job-${Math.random().toString(36).slice(2)}`
  const text = `export default ${JSON.stringify({ cron: '@daily', ...definition })}`
  writeFileSync(join(folder, `${name}.ts`), text)
  const { printed, code } = await account.run(run, [name, '--json'], { LIVEHOUSE_JOBS_DIR: folder })
  expect(code).toBe(0)
  return JSON.parse(printed.join('\n')).streams
}

/** Whole minutes around a moment within one are so many, or one more. */
const upTo = (minutes: number) => expect.toSatisfy((seen: number) => seen === minutes || seen === minutes + 1)

/** How far back the slices of the last run read, in hours; and how far what they cover lies back, in minutes. */
async function readLastReach(stream: string) {
  // From what was there when it was planned: waiting for its turn moves the clock.
  const { rows } = await sql<{ hours: string; minutes: string }>`
    select extract(epoch from max(upper(reads)) - min(lower(reads))) / 3600 as hours,
      extract(epoch from max(upper(reads)) - max(upper(covers))) / 60 as minutes
    from livehouse_ops.slices
    where stream = ${stream} and run_id = (select max(run_id) from livehouse_ops.slices)`.execute(account.database.db)
  return { hours: Math.round(Number(rows[0]?.hours)), minutes: Math.round(Number(rows[0]?.minutes)) }
}

test('a lookback of its own reads less or more, and takes nothing from the lookback of others', async () => {
  const begin = account.clock.nowMs
  await runJob({ streams: ['watch_records'], lookbackDays: { watch_records: 0 } })
  account.clock.nowMs = begin + 3_600_000
  await runJob({ streams: ['watch_records'], lookbackDays: { watch_records: 0 } })
  expect(await readLastReach('watch_records')).toEqual({ hours: 1, minutes: upTo(5) })
  account.clock.nowMs = begin + 7_200_000
  await runJob({ streams: ['watch_records'] })
  expect(await readLastReach('watch_records')).toMatchObject({ hours: 74 })
  account.clock.nowMs = begin + 7_200_000
  await runJob({ streams: ['watch_records'], lookbackDays: { watch_records: 7 } })
  expect(await readLastReach('watch_records')).toMatchObject({ hours: 170 })
})
