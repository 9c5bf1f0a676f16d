import { expect, test } from 'vitest'
import { summarize } from '../../src/cli/summary.ts'
import { noCounts, noSlices } from '../../src/core/slice.ts'
import { streams as all } from '../../src/streams/registry.ts'

test('a summary of millions of rows fits sixty columns, names anything unusual, and has no negative time', () => {
  const [extracted, inserted] = [9_999_999, 9_999_999]
  const counts = { ...noCounts, extracted, inserted, updated: inserted, unchanged: inserted, calls: 99_999, removed: 2 }
  const slices = { ...noSlices, verified: 1000, moving: 20 }
  const streams = Object.fromEntries(all.map(({ name }) => [name, { counts, slices }]))
  const ended = { startedAt: '2026-11-20T17:00:00Z', finishedAt: '2026-11-20T16:00:09Z', resumesAt: null, errors: [] }
  const lines = summarize({ runId: '1', command: 'sync', status: 'ok', streams, ...ended }, 'UTC')
  expect(lines.filter((line) => line.length > 60)).toEqual([])
  expect(lines.at(-1)).toMatch(/\(0\.0 s\)$/)
  expect(lines.filter((line) => line.endsWith('  1000 verified, 20 moving; rows: 2 removed'))).toHaveLength(all.length)
})
