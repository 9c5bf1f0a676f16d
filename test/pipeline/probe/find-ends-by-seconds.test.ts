import { expect, test } from 'vitest'
import { findEndsBySeconds } from '../../../src/pipeline/probe/find-ends-by-seconds.ts'
import type { Question, Reply } from '../../../src/pipeline/probe/questioner.ts'
import { pageOf } from '../../helpers/scripted-pages.ts'

const row = { uptime: '2026-11-20 14:03:09' }

/** Asks a service that answers as `serve` says. */
async function endsOf(serve: (from: string, to: string) => readonly unknown[], items: readonly unknown[] = [row]) {
  const ask = async ({ list }: Question): Promise<Reply> => {
    const { startTime = '', endTime = '' } = list.endpoint === 'giftRunning' ? list : {}
    return { kind: 'page', page: pageOf(serve(startTime.slice(11), endTime.slice(11))) }
  }
  const within = (startTime: string, endTime: string) =>
    ({ endpoint: 'giftRunning', channelId: '9', type: 'cash', startTime, endTime }) as const
  const list = { subject: 'giftRunning', pageSize: 2, items, within, timeField: () => 'uptime' } as const
  return (await findEndsBySeconds({ ask }, list)).answer
}

test.each([
  ['both', (from: string, to: string) => from <= '14:03:09' && to >= '14:03:09'],
  ['start', (from: string, to: string) => from <= '14:03:09' && to > '14:03:09'],
  ['end', (from: string, to: string) => from < '14:03:09' && to >= '14:03:09'],
  ['none', (from: string, to: string) => from < '14:03:09' && to > '14:03:09'],
  // A filter that never finds the row does not leave out its ends: it looks at something else.
  [null, () => false],
])('%s', async (answer, holds) => {
  expect(await endsOf((from, to) => (holds(from, to) ? [row] : []))).toBe(answer)
})

test('a page full of others may hide the row, and times without seconds cannot be asked for', async () => {
  const others = [{ uptime: '2026-11-20 14:03:08' }, { uptime: '2026-11-20 14:03:10' }]
  expect(await endsOf(() => others)).toBeNull()
  // Otherwise it would seem that only the end belongs to it.
  expect(await endsOf((from) => (from < '14:03:09' ? [row] : others))).toBeNull()
  expect(await endsOf(() => [], [{ uptime: '2026-11-20 14:03' }])).toBeNull()
})
