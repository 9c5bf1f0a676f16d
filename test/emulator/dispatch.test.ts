import { expect, test } from 'vitest'
import { startEmulatedService } from '../helpers/emulated-service.ts'
import { createFakeClock } from '../helpers/fake-clock.ts'

const RECORDS = '/v2/activities/:channel/userRecordList'
const SIGNUPS = '/v1/activities/:channel/signupRecord'
const V1 = '/v1/activities/:channel/userRecords'

test.each([
  ['a date that does not exist', 'POST', RECORDS, { start_time: '2026-02-30 00:00:00' }, 400, 400001],
  ['a date without seconds', 'POST', RECORDS, { end_time: '2026-02-20 00:00' }, 400, 400001],
  ['page 0', 'POST', RECORDS, { p: 0 }, 400, 400001],
  ['a filter other than 0 and 1', 'POST', RECORDS, { filter_watch_time: 2 }, 400, 400001],
  ['no gift type', 'POST', '/v1/activities/:channel/giftRunning', {}, 400, 400002],
  ['a body that is an array', 'POST', RECORDS, [], 400, 400001],
  ['a body that is not JSON', 'POST', RECORDS, '{"p":', 400, 400001],
  ['an unknown channel', 'POST', '/v2/activities/9/visitorList', {}, 404, 404002],
  ['another method', 'GET', RECORDS, undefined, 405, 405001],
  ['the sibling version of a path', 'POST', '/v1/activities/:channel/userRecordList', {}, 404, 404000],
])('a wrong request is refused: %s', async (_, method, path, body, status, code) => {
  await using service = await startEmulatedService()
  const answer = await service.call(method, path, body)
  expect(answer).toMatchObject({ status, json: { errors: { code, message: expect.any(String) } } })
})

test.each([
  ['no question id', 'POST', SIGNUPS, {}, 400002],
  ['an unknown question id', 'POST', SIGNUPS, { question_id: 'nothing0' }, 404000],
  ['a page index in words', 'GET', '/v1/activities/:channel/getQuestionList', { page_index: 'x' }, 400001],
])('a wrong request of 4.10 or 4.11 gets an errcode: %s', async (_, method, path, body, errcode) => {
  await using service = await startEmulatedService()
  const hidden = await service.call(method, path, body)
  expect(hidden).toMatchObject({ status: 200, json: { errcode, msg: expect.any(String) } })
  service.emulator.switches.errcodeStatus = 'matching'
  const matching = await service.call(method, path, body)
  expect(matching).toMatchObject({ status: Math.floor(errcode / 1000), json: { errcode } })
})

test("wrong calls of 4.6 count among its ten a day, which are renewed at the service's midnight", async () => {
  const clock = createFakeClock({ startMs: Date.parse('2026-11-20T23:50:00+08:00') })
  await using service = await startEmulatedService({ clock })
  await service.call('POST', V1, { p: 'wrong' })
  for (let call = 2; call <= 10; call += 1) expect((await service.call('POST', V1, {})).status).toBe(200)
  const refused = { status: 429, json: { errors: { code: 429001, message: 'Touch rate limit' } } }
  expect(await service.call('POST', V1, {})).toMatchObject(refused)
  await clock.advance(599_000)
  expect(await service.call('POST', V1, {})).toMatchObject(refused)
  await clock.advance(1000)
  expect((await service.call('POST', V1, {})).status).toBe(200)
})
