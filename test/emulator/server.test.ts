import { describe, expect, test } from 'vitest'
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

  test('ends once, also when asked twice, and answers no more', async () => {
    const emulator = await startEmulator({ channels: 1, viewers: 1 })
    await emulator[Symbol.asyncDispose]()
    await emulator[Symbol.asyncDispose]()
    await expect(rawCall({ url: emulator.baseUrl })).rejects.toThrow('ECONNREFUSED')
  })
})
