import { describe, expect, test } from 'vitest'
import { pace } from '../../src/service/pace.ts'
import { createPermits } from '../../src/service/permits.ts'
import type { Answer, Call, Send } from '../../src/service/send.ts'
import { systemClock } from '../../src/core/clock.ts'
import { createMemoryPaceCell } from '../../src/core/pace-cell.ts'
import { errorOf, openContext } from '../helpers/connect-client.ts'
import { createRecordingLog } from '../helpers/recording-log.ts'

const answer: Answer = { json: [], serviceTimeMs: undefined }
const freely = createPermits({
  maxCallsPerSecond: 0,
  cell: createMemoryPaceCell(systemClock),
  clock: systemClock,
  log: createRecordingLog().log,
})
const callOf = (channelId: string): Call => ({
  endpoint: 'visitorList',
  name: `POST visitorList channel ${channelId}`,
  method: 'POST',
  host: 'base',
  path: '/',
  channelId,
  authorization: 'bearer',
  repeat: 'read',
})

/** A service whose answers the test releases one by one. */
function createGate() {
  const started: string[] = []
  const waiting: (() => void)[] = []
  const next: Send = async (call) => {
    started.push(call.channelId ?? '')
    await new Promise<void>((resolve) => waiting.push(resolve))
    return answer
  }
  const release = async () => {
    waiting.shift()?.()
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { next, started, release }
}

describe('concurrency', () => {
  test('no more calls at once than the ceiling', async () => {
    const { next, started, release } = createGate()
    const send = pace(next, { concurrency: 3, permits: freely })
    const calls = Array.from({ length: 10 }, (_call, i) => send(callOf(String(i)), openContext()))
    await release()
    expect(started).toHaveLength(3)
    await release()
    expect(started).toHaveLength(4)
    for (let i = 0; i < 10; i += 1) await release()
    await Promise.all(calls)
  })

  test('a channel with one call is not behind the hundred of another', async () => {
    const { next, started, release } = createGate()
    const send = pace(next, { concurrency: 1, permits: freely })
    const calls = [...Array.from({ length: 100 }, () => 'big'), 'small', 'other'].map((id) =>
      send(callOf(id), openContext()),
    )
    for (let i = 0; i < 103; i += 1) await release()
    await Promise.all(calls)
    expect(started.indexOf('small')).toBeLessThan(4)
    expect(started.indexOf('other')).toBeLessThan(5)
    expect(started).toHaveLength(102)
  })

  test('a call that is given up while it waits never goes out and holds no place', async () => {
    const { next, started, release } = createGate()
    const send = pace(next, { concurrency: 1, permits: freely })
    const controller = new AbortController()
    const first = send(callOf('a'), openContext())
    const given = errorOf(send(callOf('b'), { signal: controller.signal }))
    const last = send(callOf('c'), openContext())
    controller.abort(new Error('gave up'))
    expect(String(await given)).toBe('Error: gave up')
    await release()
    await release()
    await release()
    await Promise.all([first, last])
    expect(started).toEqual(['a', 'c'])
  })
})
