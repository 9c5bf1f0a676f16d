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

describe('envelopes', () => {
  test('4.5 and 4.7 count rows and pages', async () => {
    await using service = await startEmulatedService()
    const { json } = await service.call('POST', '/v2/activities/:channel/visitorList', { perPage: 25, p: 2 })
    expect(json).toMatchObject({ total_num: 60, total_page: 3, page_num: 2, page_size: 25 })
    const records = await service.call('POST', '/v2/activities/:channel/userRecordList', { perPage: '7', p: '2' })
    expect(records.json).toMatchObject({ page_num: 2, page_size: 7 })
  })

  test('4.8 counts in numbers, 4.9 echoes its page size as text', async () => {
    await using service = await startEmulatedService()
    const usage = await service.call('GET', '/v1/account/managersUsage?p=3&perPage=2')
    expect(usage.json).toMatchObject({ page: { p: 3, perPage: 2, count: 25 } })
    const managers = await service.call('GET', '/v1/account/managers?p=3&perPage=2')
    expect(managers.json).toMatchObject({ page: { p: 3, perPage: '2', count: 25 } })
  })

  test('4.8 finds a user name exactly', async () => {
    await using service = await startEmulatedService()
    const { json } = await service.call('GET', '/v1/account/managersUsage?username=009&perPage=10')
    expect(json).toMatchObject({ page: { count: 1 }, data: [{ username: '009', last_login_time: '' }] })
    const all = await service.call('GET', '/v1/account/managersUsage?username=')
    expect(all.json).toMatchObject({ page: { count: 25 } })
  })

  test('4.10 and 4.11 say 1000 and OK', async () => {
    await using service = await startEmulatedService()
    const list = await service.call('GET', '/v1/activities/:channel/getQuestionList', { page_size: 2, page_index: 2 })
    expect(list.json).toMatchObject({ errcode: 1000, msg: 'OK', page_index: 2, size: 2, total: 3 })
    const form = service.emulator.world.channels.get(service.channelId)?.questionnaires.rows[0]
    const body = { question_id: form?.questionId, page_size: 3 }
    const signups = await service.call('POST', '/v1/activities/:channel/signupRecord', body)
    expect(signups.json).toMatchObject({ errcode: 1000, page_index: 1, size: 3, total: form?.signups.rows.length })
    const title = ['用户ID', '昵称', '手机号', ...(form?.questions ?? []), '报名时间']
    expect(signups.json).toMatchObject({ title })
  })

  test('4.6 and 4.12 are bare arrays', async () => {
    await using service = await startEmulatedService()
    for (const path of ['userRecords', 'giftRunning']) {
      const { json } = await service.call('POST', `/v1/activities/:channel/${path}`, { type: 'cash' })
      expect(Array.isArray(json)).toBe(true)
    }
  })
})

describe('wire forms', () => {
  test('watch records show minutes, visitors show seconds', async () => {
    await using service = await startEmulatedService()
    const record = await service.call('POST', '/v2/activities/:channel/userRecordList', { perPage: 1 })
    expect(record.text).toMatch(/"first_login_time":"\d{4}-\d\d-\d\d \d\d:\d\d"/)
    expect(record.text).toMatch(/"online_time":"\d+:\d\d:\d\d"/)
    const visitor = await service.call('POST', '/v2/activities/:channel/visitorList', { perPage: 1 })
    expect(visitor.text).toMatch(/"first_login_time":"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d"/)
    expect(visitor.text).toMatch(/"online_time":\d+/)
  })

  test('an id beyond 2^53 arrives with all its digits', async () => {
    await using service = await startEmulatedService()
    const { text } = await service.call('POST', '/v2/activities/:channel/userRecordList', { perPage: 100 })
    expect(text).toContain('"record_id":9007199254740993,')
  })

  test('some duration is longer than a day', async () => {
    await using service = await startEmulatedService()
    const { text } = await service.call('POST', '/v2/activities/:channel/userRecordList', { perPage: 100 })
    expect(text).toMatch(/"online_time":"(125:03:09|49:00:00|26:01:01)"/)
  })

  test('a questionnaire carries the offset of the zone', async () => {
    await using service = await startEmulatedService()
    const { text } = await service.call('GET', '/v1/activities/:channel/getQuestionList')
    expect(text).toMatch(/"created_at":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+08:00"/)
  })

  test('the v1 record lacks the four fields that only v2 has', async () => {
    await using service = await startEmulatedService()
    const { text } = await service.call('POST', '/v1/activities/:channel/userRecords')
    expect(text).toContain('"record_id"')
    expect(text).not.toMatch(/assign_id|outer_id|live_time|vod_time/)
  })
})
