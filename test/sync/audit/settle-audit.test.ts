import { expect, test } from 'vitest'
import type { StreamName } from '../../../src/core/stream.ts'
import { parseWallTime } from '../../../src/core/wall-clock.ts'
import type { Acceptance } from '../../../src/ledger/acceptances.ts'
import { findStream } from '../../../src/streams/registry.ts'
import type { Difference } from '../../../src/sync/audit/partition-audit.ts'
import { createAllowance } from '../../../src/sync/audit/settle-audit.ts'

const NOW = Date.parse('2026-11-20T06:30:00Z')

function month(number: string) {
  return { from: parseWallTime(`2026-${number}-01`) ?? 0, to: parseWallTime(`2026-${number}-28`) ?? 0 }
}

function withheld(rows: number, number: string | undefined): Difference {
  return { kind: 'withheld', rows, window: number === undefined ? undefined : month(number) }
}

function allowanceOf(streamName: StreamName, ...acceptances: readonly Partial<Acceptance>[]) {
  const stream = findStream(streamName)
  if (stream === undefined) throw new Error(`no stream ${streamName}`)
  const all = acceptances.map((each, index) => ({
    acceptanceId: `${index}`,
    stream: streamName,
    channelId: '9',
    windows: [month('03')],
    missingRows: 5,
    takenRows: undefined,
    reason: 'a ghost',
    acceptedAt: new Date(NOW - 1000),
    expiresAt: new Date(NOW + 1000),
    withdrawnAt: null,
    isInUse: true,
    ...each,
  }))
  const take = createAllowance(all, NOW)
  return (differences: readonly Difference[], partition: Readonly<Record<string, string>> = { channel: '9' }) =>
    take(stream, partition, differences)
}

test('a shortfall counts as accepted only where it was acknowledged', () => {
  const take = allowanceOf('watch_records', {})
  expect(take([withheld(5, '07')])).toBe(false)
  expect(take([withheld(2, '03'), withheld(2, '07')])).toBe(false)
  expect(take([withheld(5, undefined)])).toBe(false)
  expect(take([withheld(5, '03')], { channel: '8' })).toBe(false)
  expect(take([withheld(5, '03'), { kind: 'count', rows: 1, window: month('03') }])).toBe(false)
  expect(take([])).toBe(false)
  // What was refused has taken nothing.
  expect(take([withheld(5, '03')])).toBe(true)
})

test('all partitions of a channel together may lack as much as was acknowledged', () => {
  const take = allowanceOf('signups', {})
  expect(take([withheld(3, '03')], { channel: '9', question: 'a' })).toBe(true)
  expect(take([withheld(3, '03')], { channel: '9', question: 'b' })).toBe(false)
  expect(take([withheld(2, '03')], { channel: '9', question: 'c' })).toBe(true)
})

test('the smallest acceptance with room is taken, none that is over, and a whole list by one of a whole list', () => {
  const take = allowanceOf(
    'watch_records',
    { missingRows: 9 },
    { missingRows: 2 },
    { missingRows: 1, withdrawnAt: new Date(NOW) },
  )
  expect(take([withheld(2, '03')])).toBe(true)
  expect(take([withheld(9, '03')])).toBe(true)
  expect(take([withheld(1, '03')])).toBe(false)
  expect(allowanceOf('visitors', { windows: [] })([withheld(5, undefined)])).toBe(true)
})
