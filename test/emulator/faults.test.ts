import { describe, expect, test } from 'vitest'
import * as effects from '../../src/emulator/fault-effects.ts'
import type { Fault, FaultEffect } from '../../src/emulator/faults.ts'
import { createFakeClock } from '../helpers/fake-clock.ts'
import { type EmulatedService, startEmulatedService } from '../helpers/emulated-service.ts'
import { rawCall } from '../helpers/raw-call.ts'

const VISITORS = '/v2/activities/:channel/visitorList'
const RECORDS = '/v2/activities/:channel/userRecordList'

const visitors = (service: EmulatedService, p = 1) => service.call('POST', VISITORS, { p, perPage: 10 })

/** The answer to page 2 of the visitors with the effect, and without it. */
async function withEffect(effect: FaultEffect) {
  await using service = await startEmulatedService()
  const sound = await visitors(service, 2)
  service.emulator.faults.push({ effect })
  const faulty = await visitors(service, 2)
  return { sound, faulty, rows: rowsOf(faulty.json), soundRows: rowsOf(sound.json) }
}

function rowsOf(json: unknown): unknown[] {
  return Reflect.get(Object(json), 'results')
}

describe('which calls a fault meets', () => {
  test.each<[string, Omit<Fault, 'effect'>, boolean[]]>([
    ['every call', {}, [true, true, true]],
    ['one endpoint', { endpoint: 'userRecordList' }, [false, false, true]],
    ['one page', { page: 2 }, [false, true, false]],
    ['another channel', { channelId: '9' }, [false, false, false]],
    ['so many calls', { times: 2 }, [true, true, false]],
    ['none by chance', { probability: 0 }, [false, false, false]],
  ])('%s', async (_, match, expected) => {
    await using service = await startEmulatedService()
    service.emulator.faults.push({ effect: effects.status(503), ...match })
    const answers = [await visitors(service, 1), await visitors(service, 2), await service.call('POST', RECORDS, {})]
    expect(answers.map(({ status }) => status === 503)).toEqual(expected)
  })

  test('a fault that is used up leaves the queue', async () => {
    await using service = await startEmulatedService()
    service.emulator.faults.push({ effect: effects.status(503), times: 1 })
    await visitors(service)
    expect(service.emulator.faults).toEqual([])
  })

  test('chance follows the seed', async () => {
    const draw = async (seed: number) => {
      await using service = await startEmulatedService()
      service.emulator.faults.push({ effect: effects.status(503), probability: 0.5, seed })
      const statuses: number[] = []
      for (let call = 0; call < 30; call += 1) statuses.push((await visitors(service)).status)
      return statuses
    }
    const [first, again, other] = [await draw(7), await draw(7), await draw(8)]
    expect(new Set(first)).toEqual(new Set([200, 503]))
    expect(again).toEqual(first)
    expect(other).not.toEqual(first)
  })

  test('several at once build on each other', async () => {
    await using service = await startEmulatedService()
    service.emulator.faults.push({ effect: effects.missingRow() }, { effect: effects.duplicateRow() })
    const { json } = await visitors(service)
    const rows = rowsOf(json)
    expect(rows).toHaveLength(10)
    expect(rows[0]).toEqual(rows[1])
  })
})

describe('answers that are no data', () => {
  test('a refusal in each envelope', async () => {
    const plain = await withEffect(effects.refusal(500001, 'Server logic error'))
    expect(plain.faulty).toMatchObject({
      status: 500,
      json: { errors: { code: 500001, message: 'Server logic error' } },
    })
    const coded = await withEffect(effects.refusal(403001, 'no', 'errcode'))
    expect(coded.faulty).toMatchObject({ status: 403, json: { errcode: 403001, msg: 'no' } })
    const hidden = await withEffect(effects.errcode(500002))
    expect(hidden.faulty).toMatchObject({ status: 200, json: { errcode: 500002 } })
    const object = await withEffect(effects.errorsObject())
    expect(object.faulty).toMatchObject({ status: 200, json: { errors: { code: 500001 } } })
  })

  test('a page for people, with either status', async () => {
    for (const code of [200, 502]) {
      const { faulty } = await withEffect(effects.html(code))
      expect(faulty).toMatchObject({ status: code, text: expect.stringContaining('<html>') })
      expect(faulty.headers['content-type']).toContain('text/html')
    }
  })

  test('nothing, any JSON, a redirect', async () => {
    expect((await withEffect(effects.emptyBody())).faulty).toMatchObject({ status: 200, text: '' })
    expect((await withEffect(effects.jsonBody(null))).faulty).toMatchObject({ status: 200, text: 'null' })
    const { faulty } = await withEffect(effects.redirect('http://other.example/'))
    expect(faulty).toMatchObject({ status: 302, headers: { location: 'http://other.example/' } })
  })

  test('a body that ends early, and a connection that is reset', async () => {
    await expect(withEffect(effects.cutBody())).rejects.toThrow('aborted')
    await expect(withEffect(effects.connectionReset())).rejects.toThrow('ECONNRESET')
  })

  test('no answer at all, until the client gives up or the emulator ends', async () => {
    const service = await startEmulatedService()
    service.emulator.faults.push({ effect: effects.hang() })
    const url = service.emulator.baseUrl + VISITORS.replace(':channel', service.channelId)
    const controller = new AbortController()
    const call = rawCall({
      method: 'POST',
      url,
      bearer: service.emulator.apiToken,
      body: {},
      signal: controller.signal,
    })
    const refused = call.catch((error: unknown) => String(error))
    while (service.emulator.calls.length === 0) await new Promise((resolve) => setImmediate(resolve))
    controller.abort()
    expect(await refused).toContain('aborted')
    expect(service.emulator.calls).toMatchObject([{ endpoint: 'visitorList', status: 0 }])
    const open = visitors(service).catch((error: unknown) => String(error))
    while (service.emulator.calls.length === 1) await new Promise((resolve) => setImmediate(resolve))
    await service[Symbol.asyncDispose]()
    expect(await open).toContain('socket hang up')
  })

  test('an answer in drops is the same answer', async () => {
    const clock = createFakeClock({ isAutomatic: true })
    await using service = await startEmulatedService({ clock })
    const sound = await visitors(service)
    service.emulator.faults.push({ effect: effects.slowDrip(100, 50) })
    const slow = await visitors(service)
    expect(slow.text).toBe(sound.text)
    expect(clock.waits).toHaveLength(Math.ceil(Buffer.byteLength(sound.text) / 100))
  })
})

describe('lists that are not sound', () => {
  test('a row that is no object', async () => {
    const { rows, soundRows } = await withEffect(effects.foreignRow('oops', 3))
    expect(rows).toEqual(soundRows.with(3, 'oops'))
  })

  test('a field that cannot be read, in one row or in all', async () => {
    const one = await withEffect(effects.fieldValue('watch_time', 'soon', 0))
    expect(one.rows.map((row) => Reflect.get(Object(row), 'watch_time') === 'soon')).toEqual(
      one.rows.map((_, index) => index === 0),
    )
    const all = await withEffect(effects.fieldValue('mood', { good: true }))
    expect(all.rows.every((row) => Reflect.has(Object(row), 'mood'))).toBe(true)
  })

  test('a row twice, a row less: the total stays', async () => {
    const twice = await withEffect(effects.duplicateRow(2))
    expect(twice.rows).toHaveLength(11)
    expect(twice.faulty.json).toMatchObject({ total_num: 60 })
    const less = await withEffect(effects.missingRow(2))
    expect(less.rows).toEqual(less.soundRows.toSpliced(2, 1))
    expect(less.faulty.json).toMatchObject({ total_num: 60 })
  })

  test('a row that never comes, on whatever page', async () => {
    await using service = await startEmulatedService()
    const { json } = await visitors(service, 2)
    const hidden = Reflect.get(Object(rowsOf(json)[4]), 'user_id')
    service.emulator.faults.push({
      effect: effects.withheldRows((row) => Reflect.get(Object(row), 'user_id') === hidden),
    })
    const all = await service.call('POST', VISITORS, { perPage: 100 })
    expect(all.json).toMatchObject({ total_num: 60 })
    expect(rowsOf(all.json)).toHaveLength(59)
    expect(all.text).not.toContain(`"user_id":"${hidden}"`)
  })

  test('no rows where there were some', async () => {
    const { faulty } = await withEffect(effects.noRows())
    expect(faulty.json).toMatchObject({ results: [], total_num: 0, total_page: 0 })
  })

  test('a total that moves with each answer', async () => {
    await using service = await startEmulatedService()
    service.emulator.faults.push({ effect: effects.changingTotal(-1) })
    const totals = [await visitors(service), await visitors(service)].map(({ json }) =>
      Reflect.get(Object(json), 'total_num'),
    )
    expect(totals).toEqual([59, 58])
  })

  test('the page before, or always the first', async () => {
    await using service = await startEmulatedService()
    const first = await visitors(service, 1)
    service.emulator.faults.push({ effect: effects.repeatedPage(), times: 1 })
    const repeated = await visitors(service, 2)
    expect(repeated.json).toEqual({ ...Object(first.json), page_num: 2 })
    service.emulator.faults.push({ effect: effects.ignoredPage(), times: 1 })
    expect((await visitors(service, 5)).json).toEqual({ ...Object(first.json), page_num: 5 })
    service.emulator.faults.push({ effect: effects.ignoredPage(true), times: 1 })
    expect((await visitors(service, 5)).json).toEqual(first.json)
  })

  test('all times whatever was asked', async () => {
    await using service = await startEmulatedService()
    const body = { start_time: '2001-01-01 00:00:00', end_time: '2001-01-02 00:00:00' }
    expect((await service.call('POST', RECORDS, body)).json).toMatchObject({ total_num: 0 })
    service.emulator.faults.push({ effect: effects.ignoredTimeFilter() })
    const all = service.emulator.world.channels.get(service.channelId)?.records.rows.length
    expect((await service.call('POST', RECORDS, body)).json).toMatchObject({ total_num: all })
  })

  test('a fault leaves no trace in later answers', async () => {
    await using service = await startEmulatedService()
    const sound = await visitors(service)
    service.emulator.faults.push({ effect: effects.fieldValue('nick', 'x'), times: 1 })
    expect((await visitors(service)).text).not.toBe(sound.text)
    expect((await visitors(service)).text).toBe(sound.text)
  })
})
