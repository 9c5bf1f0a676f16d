import { describe, expect, test } from 'vitest'
import { startEmulatedService } from '../helpers/emulated-service.ts'

const LISTS = [
  ['POST', '/v2/activities/:channel/userRecordList', {}, 'results', 20, 100],
  ['POST', '/v2/activities/:channel/visitorList', {}, 'results', 20, 100],
  ['POST', '/v1/activities/:channel/userRecords', {}, '', 20, 100],
  ['POST', '/v1/activities/:channel/giftRunning', { type: 'prop' }, '', 20, 100],
  ['POST', '/v1/activities/:channel/signupRecord', { question_id: ':form' }, 'data', 10, 50],
] as const

const ACCOUNT_LISTS = [
  ['managersUsage', 1, 10, 'perPage', 'p'],
  ['managers', 20, 100, 'perPage', 'p'],
] as const

describe('page sizes', () => {
  test.each(LISTS)(
    '%s %s has the default and the maximum of the spec',
    async (method, path, extra, field, size, max) => {
      await using service = await startEmulatedService({ viewers: 1500, channels: 1 })
      const channel = service.emulator.world.channels.get(service.channelId)
      channel?.oldRecords.add(...channel.records.rows)
      const form = channel?.questionnaires.rows[0]?.questionId
      const filters = JSON.parse(JSON.stringify(extra).replace(':form', form ?? ''))
      const sizeName = path.includes('signup') ? 'page_size' : 'perPage'
      const rowsOf = async (params: object) => {
        const { json } = await service.call(method, path, { ...filters, ...params })
        return field === '' ? json : Reflect.get(Object(json), field)
      }
      expect(await rowsOf({})).toHaveLength(size)
      expect(await rowsOf({ [sizeName]: max })).toHaveLength(max)
      expect(await rowsOf({ [sizeName]: String(max + 1) })).toHaveLength(max)
    },
  )

  test.each(ACCOUNT_LISTS)('%s has the default and the maximum of the spec', async (name, size, max) => {
    await using service = await startEmulatedService()
    const { managers } = service.emulator.world
    const [first] = managers.rows
    if (first) managers.add(...Array.from({ length: 100 }, (_, id) => ({ ...first, id: String(id + 1) })))
    const rowsOf = async (query: string) => {
      const { json } = await service.call('GET', `/v1/account/${name}?${query}`)
      return Reflect.get(Object(json), 'data')
    }
    expect(await rowsOf('')).toHaveLength(size)
    expect(await rowsOf(`perPage=${max}`)).toHaveLength(max)
    expect(await rowsOf(`perPage=${max + 1}`)).toHaveLength(max)
  })

  test('getQuestionList has 20 by default and 100 at most', async () => {
    await using service = await startEmulatedService()
    const forms = service.emulator.world.channels.get(service.channelId)?.questionnaires
    const [first] = forms?.rows ?? []
    if (first) forms?.add(...Array.from({ length: 120 }, (_, id) => ({ ...first, questionId: `q${id}` })))
    const rowsOf = async (body?: object) => {
      const { json } = await service.call('GET', '/v1/activities/:channel/getQuestionList', body)
      return Reflect.get(Object(json), 'question_list')
    }
    expect(await rowsOf()).toHaveLength(20)
    expect(await rowsOf({ page_size: 100 })).toHaveLength(100)
    expect(await rowsOf({ page_size: 101 })).toHaveLength(100)
  })
})
