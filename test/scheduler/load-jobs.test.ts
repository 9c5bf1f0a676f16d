import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { LivehouseError } from '../../src/core/errors.ts'
import { loadJobs } from '../../src/scheduler/load-jobs.ts'
import { createTemporaryFolder } from '../helpers/temporary-folder.ts'

const shipped = fileURLToPath(new URL('../../jobs', import.meta.url))
const timeZone = 'Asia/Shanghai'

function folderOf(files: Readonly<Record<string, string>>): string {
  const folder = createTemporaryFolder('jobs')
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  return folder
}

async function problemsOf(files: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const folder = folderOf(files)
  const error: unknown = await loadJobs({ folder, timeZone }).catch((thrown: unknown) => thrown)
  if (!(error instanceof LivehouseError) || error.code !== 'config.invalid') throw error
  const { problems } = Object(error.details)
  return problems.map((each: string) => each.replace(`${folder}/`, ''))
}

test('the shipped jobs load, and only the harmless ones are enabled', async () => {
  const jobs = await loadJobs({ folder: shipped, timeZone })
  expect(jobs.map(({ name, cron, isEnabled, timeZone }) => [name, cron, isEnabled, timeZone])).toEqual([
    ['audit-weekly', '30 5 * * SUN', true, 'Asia/Shanghai'],
    ['intraday', '*/15 * * * *', false, 'Asia/Shanghai'],
    ['nightly', '15 2 * * *', true, 'Asia/Shanghai'],
    ['v1-history', '20 0 * * *', false, 'Asia/Shanghai'],
  ])
  for (const job of jobs) expect(Object.isFrozen(job)).toBe(true)
})

test('every job of the documentation loads', async () => {
  const text = readFileSync(fileURLToPath(new URL('../../docs/jobs.md', import.meta.url)), 'utf8')
  const blocks = [...text.matchAll(/```ts\n(.*?)```/gs)].map(([, code = '']) => code.replace(/^import.*\n/m, ''))
  const plain = blocks.map((code) => code.replace('export default defineJob(', 'export default ('))
  const folder = folderOf(Object.fromEntries(plain.map((code, index) => [`example-${index}.ts`, code])))
  expect(await loadJobs({ folder, timeZone })).toHaveLength(4)
})

test('a job can set every field', async () => {
  const folder = folderOf({
    'all-of-it.ts': `const job: { cron: string } & object = {
      kind: 'sync', cron: '0 3 * * 1-5', timezone: 'Europe/Berlin', enabled: false,
      streams: ['visitors', 'watch_records'], channels: { group: 'training' }, catchUp: 'never', until: '06:00', lookbackDays: { watch_records: 7 },
    }
    export default job`,
    'again.mts': `export default { kind: 'backfill', cron: '@monthly', range: { lastDays: 30 }, channels: ['1001'] }`,
    'notes.md': 'no job',
    'types.d.ts': 'export type A = 1',
  })
  mkdirSync(join(folder, 'folder'))
  const [again, all] = await loadJobs({ folder, timeZone })
  const definition = { lookbackDays: { watch_records: 7 } }
  const expected = { kind: 'sync', timeZone: 'Europe/Berlin', isEnabled: false, catchUp: 'never', definition }
  expect(all).toMatchObject({ name: 'all-of-it', ...expected })
  expect(again).toMatchObject({ name: 'again', kind: 'backfill', timeZone, isEnabled: true, catchUp: 'once' })
})

test.each([
  [`cron: '61 * * * *'`, /^cron is '61 \* \* \* \*': its minute "61" is not possible; it should be five fields/],
  [`cron: ((it) => [it.push(it) && it])([])`, /^cron is \[ <ref \*1> \[ \[Circular \*1\] \] \]: it should be/],
  [`cron: 15n`, /^cron is 15n: it should be five fields/],
  [`channels: [1001n]`, /^channels is \[ 1001n \]: it should be 'all', a list of channel ids/],
  [`timezone: 'Asia/Shangai'`, /^timezone is 'Asia\/Shangai': it should be an IANA time zone/],
  [`streams: ['watchers']`, /^streams\.0 is 'watchers': it should be a list of visitors, watch_records/],
  [`streams: []`, /^streams is \[\]: it should be a list of visitors/],
  [`streams: ['gifts', 'gifts']`, /^streams is \[ 'gifts', 'gifts' \]: it should be .*, each of them once/],
  [`channels: { label: 'x' }`, /^channels is \{ label: 'x' \}: it should be 'all'/],
  [`enabled: 'yes'`, /^enabled is 'yes': it should be true or false/],
  [`catchUp: true`, /^catchUp is true: it should be 'once' or 'never'/],
  [`until: '6:00'`, /^until is '6:00': it should be a time of day/],
  [`lookbackDays: {gifts: -1}`, /^lookbackDays\.gifts is -1: it should be numbers of days .* as { watch_records: 7 }$/],
  [`lookbackDays: { watchers: 1 }`, /^there is no field lookbackDays\.watchers; lookbackDays has streams: visitors, /],
  [`crom: 1`, /^there is no field crom; did you mean cron\?$/],
  [`kind: 'sinc'`, /^kind is 'sinc'; it should be 'sync', 'backfill' or 'audit'/],
  [
    `kind: 'audit', streams: ['watch_records_v1']`,
    /: an audit should name another stream too, or none: this one tells no /,
  ],
  [`kind: 'backfill'`, /^range is missing; it should be \{ from/],
  [`kind: 'backfill', range: { lastDays: 3 }, until: '06:00'`, /^there is no field until; a job of kind backfill/],
  [`kind: 'backfill', range: { from: '2026-02-30' }`, /^range\.from is '2026-02-30': it should be a date that exists/],
  [`kind: 'backfill', range: { from: '2026-02-01', to: '2026-02-01' }`, /^range is .*: from should lie before to, /],
])('a job with %s is refused with its field, value and repair', async (fields, problem) => {
  const problems = await problemsOf({ 'broken.ts': `export default { cron: '@daily', ${fields} }` })
  expect(problems).toEqual([expect.stringMatching(/^broken\.ts: /)])
  expect(problems[0]?.slice('broken.ts: '.length)).toMatch(problem)
})

test.each([
  ['export const job = {}', /^broken\.ts: it has no default export; it should say export default/],
  ['export default {}', /^broken\.ts: cron is missing; it should be five fields/],
  [`export default '0 1 * * *'`, /^broken\.ts: it exports '0 1 \* \* \*' by default; it should be defineJob/],
])('a file that contains %j is refused with its name and repair', async (text, problem) => {
  const [first, ...rest] = await problemsOf({ 'broken.ts': text })
  expect(first).toMatch(problem)
  expect(rest).toEqual([])
})

test('a file that never finishes loading is given up, and other files are reported too', async () => {
  // It resolves after the test, because other tests wait until no module is loading.
  const late = Promise.withResolvers<void>()
  onTestFinished(() => late.resolve())
  Object.assign(globalThis, { late: late.promise })
  const folder = folderOf({ 'never.ts': `await globalThis.late\nexport default {}`, 'wrong.ts': 'nonsense!' })
  await expect(loadJobs({ folder, timeZone, timeoutMs: 100 })).rejects.toMatchObject({
    code: 'config.invalid',
    details: {
      problems: [
        expect.stringMatching(/never\.ts: it does not load: it took too long; /),
        expect.stringMatching(/wrong\.ts: it does not load: /),
      ],
    },
  })
})

test('a folder that is missing or has no job file is a wrong setting', async () => {
  expect(await problemsOf({ 'notes.md': 'no job' })).toEqual([expect.stringContaining('holds no job file')])
  const folder = join(createTemporaryFolder('jobs'), 'none')
  await expect(loadJobs({ folder, timeZone })).rejects.toMatchObject({
    code: 'config.invalid',
    details: { problems: [expect.stringContaining(`${folder} cannot be read`)] },
  })
})
