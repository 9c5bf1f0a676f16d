import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { run } from '../../src/cli/run.ts'
import { ofTest } from '../helpers/of-file.ts'
import { startAccount } from '../helpers/start-account.ts'
import { createJobsFolder } from '../helpers/temporary-folder.ts'

const account = ofTest(() => startAccount({ viewers: 150 }))

async function runJob(lookbackDays?: Readonly<Record<string, number>>) {
  const text = JSON.stringify({ cron: '@daily', streams: ['watch_records'], lookbackDays })
  // In a folder of its own, because a file that has been loaded is not read again.
  const folder = createJobsFolder({ records: `export default ${text}` })
  expect(await account.run(run, ['records'], { LIVEHOUSE_JOBS_DIR: folder })).toMatchObject({ code: 0 })
}

/** Bounds are rounded to whole minutes, so a length may be one minute more. */
const orOneMore = (minutes: number) => expect.toSatisfy((seen: number) => seen === minutes || seen === minutes + 1)

/** How far back the last run read, in hours, and how long before the end of that its coverage ends, in minutes. */
async function readLastReach() {
  // Relative to the end of what it read, because waiting for its turn moves the clock.
  const { rows } = await sql<{ hours: string; minutes: string }>`
    select extract(epoch from max(upper(reads)) - min(lower(reads))) / 3600 as hours,
      extract(epoch from max(upper(reads)) - max(upper(covers))) / 60 as minutes
    from livehouse_ops.slices
    where run_id = (select max(run_id) from livehouse_ops.slices)`.execute(account.database.db)
  return { hours: Math.round(Number(rows[0]?.hours)), minutes: Math.round(Number(rows[0]?.minutes)) }
}

test("a job's own lookback makes it read less or more, and does not shorten that of other jobs", async () => {
  const begin = account.clock.nowMs
  await runJob({ watch_records: 0 })
  account.clock.nowMs = begin + 3_600_000
  await runJob({ watch_records: 0 })
  expect(await readLastReach()).toEqual({ hours: 1, minutes: orOneMore(5) })
  account.clock.nowMs = begin + 7_200_000
  await runJob()
  expect(await readLastReach()).toMatchObject({ hours: 74 })
  account.clock.nowMs = begin + 7_200_000
  await runJob({ watch_records: 7 })
  expect(await readLastReach()).toMatchObject({ hours: 170 })
})
