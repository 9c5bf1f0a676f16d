import { describe, expect, test } from 'vitest'
import { createWorld } from '../../src/emulator/world/create-world.ts'
import { startEmulator } from '../../src/emulator/server.ts'
import { FIXED_NOW, startEmulatedService } from '../helpers/emulated-service.ts'
import { rawCall } from '../helpers/raw-call.ts'

const VISITORS = '/v2/activities/:channel/visitorList'

describe('a running emulator', () => {
  test('records each call with what it asked and how it was answered', async () => {
    await using service = await startEmulatedService()
    await service.call('POST', VISITORS, { p: '2', perPage: 10, filter: '0' })
    await service.call('GET', '/v1/activities/:channel/getQuestionList', { page_index: 3, page_size: 4 })
    await service.call('POST', '/v2/activities/9/visitorList', {})
    const { channelId } = service
    expect(service.emulator.calls).toMatchObject([
      { endpoint: 'visitorList', channelId, page: 2, size: 10, params: { filter: '0' }, status: 200, at: FIXED_NOW },
      { endpoint: 'getQuestionList', channelId, page: 3, size: 4, status: 200 },
      { endpoint: 'visitorList', channelId: '9', page: undefined, status: 404 },
    ])
  })

  test('serves a world of the caller', async () => {
    const world = createWorld({ seed: 3, channels: 1, viewers: 7, days: 2, endsAt: 1_700_000_000, timeZone: 'UTC' })
    await using service = await startEmulatedService({ world })
    expect((await service.call('POST', VISITORS, {})).json).toMatchObject({ total_num: 7 })
    expect(service.emulator.truth().visitors).toHaveLength(7)
  })

  test('two of them know nothing of each other', async () => {
    await using one = await startEmulatedService()
    await using other = await startEmulatedService({ apiToken: 'another' })
    const url = other.emulator.baseUrl + VISITORS.replace(':channel', one.channelId)
    expect((await rawCall({ method: 'POST', url, bearer: one.emulator.apiToken, body: {} })).status).toBe(401)
    expect(one.emulator.calls).toEqual([])
  })

  test('a list can move between two pages', async () => {
    await using service = await startEmulatedService()
    const { visitors } = service.emulator.world.channels.get(service.channelId) ?? { visitors: undefined }
    const [first] = visitors?.rows ?? []
    const arrive = {
      name: 'arrival',
      query: <Query>(query: Query) => {
        if (first) visitors?.add({ ...first, userId: 'newcomer', lastOnlineAt: first.lastOnlineAt + 1_000_000 })
        return query
      },
    }
    const before = await service.call('POST', VISITORS, { perPage: 10, p: 1 })
    service.emulator.faults.push({ effect: arrive, page: 2, times: 1 })
    const after = await service.call('POST', VISITORS, { perPage: 10, p: 2 })
    expect(after.json).toMatchObject({ total_num: 61 })
    const idsOf = (json: unknown): string[] =>
      Reflect.get(Object(json), 'results').map((row: unknown) => Reflect.get(Object(row), 'user_id'))
    expect(idsOf(after.json)[0]).toBe(idsOf(before.json)[9])
  })

  test('ends once, also when asked twice, and answers no more', async () => {
    const emulator = await startEmulator({ channels: 1, viewers: 1 })
    await emulator[Symbol.asyncDispose]()
    await emulator[Symbol.asyncDispose]()
    await expect(rawCall({ url: emulator.baseUrl })).rejects.toThrow('ECONNREFUSED')
  })
})
