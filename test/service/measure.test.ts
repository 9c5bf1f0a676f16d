import { expect, test } from 'vitest'
import { type MeasuredCall, measure } from '../../src/service/measure.ts'
import type { Call, Send } from '../../src/service/send.ts'
import { LivehouseError } from '../../src/core/errors.ts'
import { connectClient, openContext } from '../helpers/connect-client.ts'
import { createFakeClock } from '../helpers/fake-clock.ts'
import { startScriptedService } from '../helpers/scripted-service.ts'

const call: Call = {
  endpoint: 'visitorList',
  name: 'POST visitorList channel 9 page 1',
  method: 'POST',
  host: 'base',
  path: '/v2/activities/9/visitorList',
  authorization: 'bearer',
  repeat: 'read',
}

async function measured(next: Send, signal = new AbortController().signal): Promise<readonly MeasuredCall[]> {
  const calls: MeasuredCall[] = []
  await measure(next, createFakeClock(), (each) => void calls.push(each))(call, { signal }).catch(() => {})
  return calls
}

test('an answer is told with the time that it took', async () => {
  const clock = createFakeClock({ isAutomatic: true })
  const calls: MeasuredCall[] = []
  const next: Send = async () => {
    await clock.sleep(250)
    return { json: {}, serviceTimeMs: undefined }
  }
  await measure(next, clock, (each) => void calls.push(each))(call, { signal: new AbortController().signal })
  expect(calls).toEqual([{ endpoint: 'visitorList', outcome: 'ok', elapsedMs: 250 }])
})

test('a failure is told by its code, and a bug as internal', async () => {
  const refused = new LivehouseError('api.rateLimited', 'too many', { call: 'x' })
  expect(await measured(() => Promise.reject(refused))).toMatchObject([{ outcome: 'api.rateLimited' }])
  expect(await measured(() => Promise.reject(new TypeError('bug')))).toMatchObject([{ outcome: 'internal' }])
})

test('what a signal ended tells nothing of the service', async () => {
  const gone = AbortSignal.abort(new Error('gone'))
  expect(await measured(() => Promise.reject(new Error('gone')), gone)).toEqual([])
})

test('a connection tells of every attempt, refused ones too', async () => {
  const page = { page: { p: 1, perPage: '20', count: 0 }, data: [] }
  await using service = await startScriptedService((_, index) =>
    index === 0 ? { status: 429, json: {} } : { json: page },
  )
  const calls: MeasuredCall[] = []
  await using connection = connectClient(service.url, { onCall: (each) => void calls.push(each) })
  await connection.client.managers({ page: 1, pageSize: 20 }, openContext())
  expect(calls.map(({ endpoint, outcome }) => [endpoint, outcome])).toEqual([
    ['managers', 'api.rateLimited'],
    ['managers', 'ok'],
  ])
})
