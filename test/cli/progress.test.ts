import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { createProgressTally } from '../../src/app/save-progress.ts'
import { createProgressBars, formatLine } from '../../src/cli/progress.ts'
import { systemClock } from '../../src/core/clock.ts'
import type { ProgressEvent } from '../../src/core/outcome.ts'

const begin = { name: 'watch_records_v1', startedAtMs: 0, endedAtMs: undefined }

test('a line fits sixty columns and shows the elapsed time, even before anything is planned', () => {
  const state = { rows: 9_999_999, parts: 12_345, endedParts: 5, share: 0.5 }
  for (const seconds of [0, 1, 59, 3599, 35_999]) {
    const lines = [
      { ...begin, state: undefined },
      { ...begin, state },
      { ...begin, state, endedAtMs: seconds * 1000 },
    ]
    for (const line of lines) expect(formatLine(line, seconds * 1000).length).toBeLessThanOrEqual(60)
    expect(formatLine({ ...begin, state: undefined }, 1000)).toContain('1.0 s')
  }
  expect(formatLine({ ...begin, state, endedAtMs: 1000 }, 2000)).toMatch(/ rows 1.0 s$/)
})

test("a stream's share never decreases, even if a slice is cut into many", () => {
  const tally = createProgressTally()
  const stream = 'gifts'
  const events: readonly ProgressEvent[] = [
    { kind: 'stream.planned', stream, slices: 2 },
    { kind: 'page', stream, slice: 'a', rows: 100, totalPages: 2 },
    { kind: 'slice.ended', stream, slice: 'a' },
    { kind: 'slice.cut', stream, slice: 'b', parts: 40 },
    { kind: 'page', stream, slice: 'b1', rows: 100, totalPages: 3 },
  ]
  expect(events.map((event) => tally(event).share)).toEqual([0, 0.25, 0.5, 0.5, 0.5])
})

test('a line that is written just before the end is shown, and nothing else of the opening is left', async () => {
  const stream = Object.assign(new PassThrough(), { isTTY: true, columns: 80 })
  let write = (_text: string): void => {}
  let isReleased = false
  const divert = (writer: typeof write) => {
    write = writer
    return () => void (isReleased = true)
  }
  const progress = createProgressBars(divert, { ...systemClock, now: () => 0 }, { opening: 'opening database', stream })
  let output = ''
  for (; !output.includes('opening database '); output += String(stream.read())) await once(stream, 'readable')
  write('database: here\n')
  progress[Symbol.dispose]()
  expect(isReleased).toBe(true)
  output += String(stream.read())
  expect(output).not.toContain('\u001B[?7l') // Long lines are not cut (DECAWM).
  expect(output.split('\u001B[0Jdatabase: here\n')[1]).toContain('opening database ')
  expect(output.endsWith('\u001B[1G\u001B[0J')).toBe(true)
})
