import { sql } from 'kysely'
import { beforeEach, expect, test } from 'vitest'
import { jobs } from '../../src/cli/jobs.ts'
import { run } from '../../src/cli/run.ts'
import { takeJob } from '../../src/ledger/jobs.ts'
import { ofFile } from '../helpers/of-file.ts'
import { startAccount } from '../helpers/start-account.ts'
import { createJobsFolder } from '../helpers/temporary-folder.ts'

const account = ofFile(startAccount)

const folder = createJobsFolder({
  lists: `export default { cron: '15 2 * * *', streams: ['managers', 'questionnaires'] }`,
  again: `export default { kind: 'backfill', cron: '@monthly', streams: ['gifts'], range: { lastDays: 3 } }`,
  compare: `export default { kind: 'audit', enabled: false, cron: '@weekly', streams: ['managers'] }`,
  elsewhere: `export default { cron: '@daily', channels: ['404'] }`,
  group: `export default { cron: '@daily', channels: { group: 'training' } }`,
  broken: `export default { cron: 'at night' }`,
})
const settings = { LIVEHOUSE_JOBS_DIR: folder }

beforeEach(async () => void (await sql`delete from livehouse_ops.job_runs`.execute(account.database.db)))

test('a job runs even if others in its folder are broken, and reports what its command would', async () => {
  const streams = { managers: { slices: { verified: 1 } }, questionnaires: { slices: { verified: 2 } } }
  const outcome = await account.runJson(run, ['lists'], settings)
  expect(outcome).toMatchObject({ code: 0, command: 'run', job: 'lists', status: 'ok', streams })
  const record = await account.database.db.selectFrom('livehouse_ops.job_runs').selectAll().executeTakeFirstOrThrow()
  expect(record).toMatchObject({ job: 'lists', local_time: null, status: 'ended', outcome: 'ok' })
  const runs = account.database.db.selectFrom('livehouse_ops.runs').select('command')
  expect(await runs.where('run_id', '=', record.run_id).execute()).toEqual([{ command: 'run lists' }])
})

test('a backfill job reads its last days, and leaves no open backfill behind', async () => {
  expect(await account.run(run, ['again'], settings)).toMatchObject({ code: 0 })
  const backfills = await account.database.db.selectFrom('livehouse_ops.backfills').selectAll().execute()
  const range = { from: '2026-11-18 00:00:00', to: '2026-11-21 00:00:00', streams: ['gifts'] }
  expect(backfills).toMatchObject([{ status: 'finished', arguments: range }])
})

test('an audit job compares, and reports its verdicts', async () => {
  const compared = { partitions: [{ stream: 'managers', verdict: 'equal' }] }
  const outcome = await account.runJson(run, ['compare'], settings)
  expect(outcome).toMatchObject({ code: 0, command: 'run', job: 'compare', audit: compared })
})

test('while another process runs the job nothing is called, and the outcome is waiting', async () => {
  await using lock = await takeJob(account.database.db, 'lists')
  expect(lock).toBeDefined()
  const calls = account.emulator.calls.length
  const waiting = { code: 4, status: 'waiting', errors: [{ code: 'job.running' }] }
  expect(await account.runJson(run, ['lists'], settings)).toMatchObject(waiting)
  expect(account.emulator.calls).toHaveLength(calls)
  expect((await account.run(jobs, [], settings)).code).toBe(2)
})

test.each([
  [['listz'], /there is no job "listz" in .*; did you mean lists\?; there are again, broken, compare/],
  [[], /which job\? livehouse jobs lists them/],
  [['broken'], /broken\.ts: cron is 'at night': it has 2 fields instead of five/],
  [['elsewhere'], /job elsewhere: channels names "404", which is not among LIVEHOUSE_CHANNELS/],
  [['group'], /job group: channels names the group "training", and no channel has it; none has a group/],
])('run %j is wrong use, and nothing is called', async (argv, problem) => {
  const calls = account.emulator.calls.length
  const { error, problems } = await account.run(run, argv, settings)
  expect(['usage.invalid', 'config.invalid']).toContain(Object(error).code)
  expect(problems).toEqual([expect.stringMatching(problem)])
  expect(account.emulator.calls).toHaveLength(calls)
})
