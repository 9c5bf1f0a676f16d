import { expect, test } from 'vitest'
import { jobs } from '../../src/cli/jobs.ts'
import { run } from '../../src/cli/run.ts'
import { beginJobRun, takeJob } from '../../src/ledger/jobs.ts'
import { ofFile } from '../helpers/of-file.ts'
import { startAccount } from '../helpers/start-account.ts'
import { createJobsFolder } from '../helpers/temporary-folder.ts'

const lists = `export default { cron: '15 2 * * *', streams: ['managers'] }`
const berlin = `export default { enabled: false, cron: '@weekly', timezone: 'Europe/Berlin' }`
const settings = { LIVEHOUSE_JOBS_DIR: createJobsFolder({ lists, berlin }) }
const account = ofFile(startAccount)

test('jobs are listed before anything has run', async () => {
  await using account = await startAccount({ isMigrated: false })
  const { code, printed } = await account.run(jobs, [], settings)
  expect(code).toBe(0)
  expect(printed.map((line) => line.split(/ {2,}/))).toEqual([
    ['job', 'kind', 'cron', 'zone', 'next', 'last', 'outcome'],
    ['berlin', 'sync', '@weekly', 'Europe/Berlin', 'off', 'never', '–'],
    ['lists', 'sync', '15 2 * * *', 'Asia/Shanghai', '2026-11-21 02:15', 'never', '–'],
  ])
})

test('jobs are listed with their last run, not one of a clock that was ahead, or as running', async () => {
  await account.run(run, ['lists'], settings)
  account.clock.nowMs += 3_600_000
  const { db } = account.database
  const otherRun = { job: 'lists', due: undefined, worker: 'other:1', startedAt: new Date(account.clock.nowMs) }
  await beginJobRun(db, { ...otherRun, startedAt: new Date(account.clock.nowMs + 86_400_000) })
  await using _ = await takeJob(db, 'lists')
  const readLastLine = async () => (await account.run(jobs, [], settings)).printed.at(-1)
  expect(await readLastLine()).toMatch(/2026-11-20 14:30 \(1 h ago\) +ok$/)
  await beginJobRun(db, otherRun)
  expect(await readLastLine()).toMatch(/2026-11-20 15:30 \(\S+ \S+ ago\) +running$/)
  const { printed } = await account.run(jobs, ['--json'], settings)
  expect(printed.map((line) => JSON.parse(line))).toMatchObject([
    {
      jobs: [
        { job: 'berlin', enabled: false, next_at: null, last_outcome: null },
        { job: 'lists', time_zone: 'Asia/Shanghai', next_at: '2026-11-20T18:15:00.000Z', last_outcome: 'running' },
      ],
      problems: [],
    },
  ])
})

test('a job that would be refused is marked, and the valid ones are still listed', async () => {
  const mixed = createJobsFolder({
    right: lists,
    broken: `export default {\n  cron: '15 2 * * *',\n  streams: ['gifts'\n}`,
    leaky: `throw new Error('a secret')`,
    elsewhere: `export default { cron: '15 2 * * *', channels: ['77'] }`,
    '._right': 'what another system keeps beside a file',
    mistyped: `export default { cron: '15 2 * * *', until: 7, stream: ['gifts'] }`,
    'Not a name': lists,
  })
  const redact = (text: string) => text.replaceAll('secret', '[redacted]')
  const { code, printed } = await account.run(jobs, [], { LIVEHOUSE_JOBS_DIR: mixed }, { redact })
  expect(code).toBe(2)
  expect(printed.map((line) => line.split(/ {2,}/)[0])).toEqual([
    'job',
    'elsewhere',
    'right',
    expect.stringMatching(/^✗ .*Not a name\.ts: its name i/),
    expect.stringMatching(/^✗ .*broken\.ts: it does not load: /),
    expect.stringMatching(/^✗ .*leaky\.ts: it does not load: a \[redacted\]$/),
    expect.stringMatching(/^✗ .*mistyped\.ts: until is 7: it should be /),
    expect.stringMatching(/^✗ .*mistyped\.ts: there is no field stream; did you mean streams\?$/),
    '✗ job elsewhere: channels names "77", which is not among LIVEHOUSE_CHANNELS',
  ])
})
