import { expect, test } from 'vitest'
import { decide } from '../../src/scheduler/decide.ts'
import { openTimetable } from '../../src/scheduler/timetable.ts'
import type { JobRun } from '../../src/ledger/job-runs.ts'
import { nightly } from '../helpers/scheduler-bench.ts'
import { jobOf } from '../helpers/start-scheduler.ts'

const MINUTE = 60_000
const due = new Date('2026-11-19T18:00:00Z')
const timetable = openTimetable(nightly.cron, 'Asia/Shanghai')
const run: JobRun = {
  jobRunId: '1',
  job: 'nightly',
  localTime: '2026-11-20 02:00:00',
  isRepeat: false,
  dueAt: due,
  status: 'interrupted',
  outcome: null,
  attempts: 1,
  worker: 'a',
  runId: null,
  error: 'the database refuses',
  startedAt: due,
  finishedAt: new Date(due.getTime() + 90 * MINUTE),
}

const kindAt = (last: JobRun, atMs: number) =>
  decide(jobOf('nightly', nightly), timetable, { sinceMs: 0, last }, atMs).kind

test.each([
  [1, 1],
  [2, 5],
  [3, 15],
  [4, 60],
])('after %i attempts a run is left alone for %i minutes from its end on', (attempts, minutes) => {
  const endMs = due.getTime() + 90 * MINUTE
  const wait = minutes * MINUTE
  expect(kindAt({ ...run, attempts }, endMs + wait - 1)).toBe('none')
  expect(kindAt({ ...run, attempts }, endMs + wait)).toBe('resume')
})

test('a run that a signal ended, or whose process died, is gone on with at once', () => {
  const stopped: JobRun = { ...run, error: null, attempts: 2 }
  expect(kindAt(stopped, due.getTime() + 90 * MINUTE)).toBe('resume')
  const died: JobRun = { ...stopped, status: 'running', finishedAt: null }
  expect(kindAt(died, due.getTime() + 1)).toBe('resume')
})
