import { expect, test } from 'vitest'
import { createPlainProgress } from '../../src/cli/plain-progress.ts'
import { silentLog } from '../../src/core/log.ts'

test('a stream has a line at its start, one every half minute, and one at its end', () => {
  let now = 0
  const lines: string[] = []
  const log = {
    ...silentLog,
    info: (event: string, fields: Readonly<Record<string, unknown>> = {}) =>
      void lines.push(`${event} ${JSON.stringify(fields.rows)}`),
  }
  const { report } = createPlainProgress(log, { now: () => now, sleep: () => Promise.resolve() })
  const slice = { stream: 'gifts', slice: 'channel=9/type=cash' } as const
  report({ kind: 'stream.planned', stream: 'gifts', slices: 2 })
  for (let page = 1; page <= 70; page += 1) {
    now = page * 1000
    report({ kind: 'page', ...slice, rows: 10, totalPages: undefined })
  }
  report({ kind: 'slice.ended', ...slice, proof: 'unverifiable' })
  report({ kind: 'slice.started', ...slice })
  report({ kind: 'slice.ended', ...slice, proof: 'unverifiable' })
  expect(lines).toEqual(['stream.started undefined', 'stream.progress 300', 'stream.progress 600', 'stream.ended 700'])
})
