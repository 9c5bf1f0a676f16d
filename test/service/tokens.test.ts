import { expect, test } from 'vitest'
import type { ConnectOptions } from '../../src/service/connect.ts'
import { connectClient, errorOf, fetchTicket, openContext } from '../helpers/connect-client.ts'
import { listOf } from '../helpers/emulated-client.ts'
import { createFakeClock, type FakeClock } from '../helpers/fake-clock.ts'
import { type ScriptedAnswer, type SeenRequest, startScriptedService } from '../helpers/scripted-service.ts'

const list = { json: { total_num: 0, results: [] } }
const paging = { page: 1, pageSize: 100 }
const credentials = { apiToken: null, appId: 'app-1', appSecret: 'secret-of-the-app' } as const
const ticketRequest = { scope: 'guest', outerid: 'u', hash_act_id: 'exov5dm9', client_ip: '203.0.113.7' }
const isTokenCall = ({ path }: SeenRequest) => path === '/v2/oauth2/token'

interface TokenService {
  readonly expire_time?: number | string
  readonly refusal?: ScriptedAnswer
  readonly accepts?: (bearer: string) => boolean
  readonly denial?: ScriptedAnswer | undefined
  readonly failsFirst?: boolean
}

/** A service that issues token-1, token-2 … and accepts the tokens for which `accepts` is true. */
async function setUp(
  { expire_time = 7200, refusal, accepts = () => true, denial, failsFirst = false }: TokenService = {},
  overrides: Partial<ConnectOptions> = {},
) {
  const clock: FakeClock = createFakeClock({ isAutomatic: true })
  let issued = 0
  let refused = refusal
  let failures = failsFirst ? 1 : 0
  const service = await startScriptedService((request) => {
    if (isTokenCall(request))
      return refused ?? { json: { errcode: 1000, access_token: `token-${(issued += 1)}`, expire_time } }
    if (failures-- > 0) return { status: 503, text: '' }
    const bearer = request.headers.authorization?.replace('Bearer ', '') ?? String(request.query.token)
    if (!accepts(bearer))
      return denial ?? { status: 401, json: { errors: { code: 401001, message: `bad token ${bearer}` } } }
    return request.path === '/v2/oauth2/ticket' ? { json: { errcode: 1000, tikect: 'ticket-1' } } : list
  })
  const connection = connectClient(service.url, { ...credentials, clock, ...overrides })
  const readPage = () => connection.fetchPage({ list: listOf('visitors', { channel: '9' }), ...paging }, openContext())
  return {
    readPage,
    clock,
    connection,
    service,
    refuseTokens: (answer: ScriptedAnswer) => void (refused = answer),
    countFetched: () => service.requests.filter(isTokenCall).length,
    bearers: () => service.requests.flatMap(({ headers }) => headers.authorization ?? []),
    [Symbol.asyncDispose]: async () => {
      await connection[Symbol.asyncDispose]()
      await service[Symbol.asyncDispose]()
    },
  }
}

test('a fetched token is renewed five minutes before the end of a long validity', async () => {
  await using setup = await setUp({ expire_time: '3600' })
  await setup.readPage()
  await setup.clock.sleep((3600 - 301) * 1000)
  await setup.readPage()
  expect(setup.countFetched()).toBe(1)
  await setup.clock.sleep(1000)
  await setup.readPage()
  expect(setup.countFetched()).toBe(2)
})

test('a token that cannot be renewed serves to its end, and renewals are tried only now and then', async () => {
  await using setup = await setUp()
  await setup.readPage()
  await setup.clock.sleep((7200 - 290) * 1000)
  setup.refuseTokens({ status: 503, text: '' })
  for (let call = 0; call < 5; call += 1) await setup.readPage()
  expect(new Set(setup.bearers())).toEqual(new Set(['Bearer token-1']))
  expect(setup.countFetched()).toBe(1 + 8)
  await setup.clock.sleep(290_000)
  expect(await errorOf(setup.readPage())).toMatchObject({ code: 'api.noToken' })
})

test.each([0, -5, '0'])('a token valid for %j seconds is used by the call that requested it', async (expire_time) => {
  await using setup = await setUp({ expire_time })
  await setup.readPage()
  expect(setup.bearers()).toEqual(['Bearer token-1'])
})

const denial = { json: { errcode: 1001, msg: '请重新登录' } }
test('refusals with an undocumented code in a row renew the token', async () => {
  await using setup = await setUp({ accepts: (bearer) => bearer !== 'token-1', denial })
  await setup.readPage()
  expect(setup.countFetched()).toBe(2)
  expect(setup.bearers()).toHaveLength(4)
})

test('refusals with an undocumented code renew the token only once, and not while other calls succeed', async () => {
  let answered = 0
  await using setup = await setUp({ accepts: () => answered++ % 3 === 2, denial })
  for (let call = 0; call < 10; call++) await setup.readPage()
  expect(setup.countFetched()).toBe(1)
  await using refused = await setUp({ accepts: () => false, denial })
  for (let call = 0; call < 10; call++) expect(await errorOf(refused.readPage())).toMatchObject({ code: 'api.refused' })
  expect(refused.countFetched()).toBe(2)
})

test('refusals with an undocumented code keep the old token if the renewal fails', async () => {
  let isAccepting = true
  await using setup = await setUp({ accepts: () => isAccepting, denial })
  await setup.readPage()
  isAccepting = false
  setup.service.requests.length = 0
  setup.refuseTokens({ json: { errcode: 1001 } })
  expect(await errorOf(setup.readPage())).toMatchObject({ code: 'api.refused' })
  isAccepting = true
  await setup.readPage()
  expect(setup.bearers().at(-1)).toBe('Bearer token-1')
  expect(setup.countFetched()).toBe(1)
})

test.each<ScriptedAnswer | undefined>([
  undefined,
  { json: { errcode: 40001, msg: 'invalid access_token' } },
  { status: 403, json: { errors: { code: 403001, message: 'The access token has expired' } } },
  { json: { errcode: 7, msg: 'token已过期' } },
])('a refused token is renewed once, after a failure too: %o', async (denial) => {
  await using setup = await setUp({ accepts: (bearer) => bearer !== 'token-1', denial, failsFirst: true })
  await setup.readPage()
  expect(setup.bearers()).toEqual(['token-1', 'token-1', 'token-2'].map((value) => `Bearer ${value}`))
  await setup.readPage()
  expect(setup.countFetched()).toBe(2)
})

test('a 401 with a fresh token fails and says what to check; with a fixed token it fails at once', async () => {
  await using setup = await setUp({ accepts: () => false })
  const error = await errorOf(setup.readPage())
  expect(error).toMatchObject({ code: 'api.unauthorized' })
  expect(String(error)).toContain('LIVEHOUSE_API_TOKEN')
  expect(setup.bearers()).toHaveLength(2)
  await using fixed = await setUp({ accepts: () => false }, { apiToken: 'fixed-token', appId: null, appSecret: null })
  expect(await errorOf(fixed.readPage())).toMatchObject({ code: 'api.unauthorized' })
  expect(fixed.service.requests).toHaveLength(1)
})

test('a 401 for a ticket renews the token too, as no ticket was issued', async () => {
  await using setup = await setUp({ accepts: (bearer) => bearer !== 'token-1' })
  expect(await fetchTicket(setup.connection, ticketRequest)).toBe('ticket-1')
})

test('with both kinds configured, reading uses the fixed token, and 4.2 the fetched one', async () => {
  await using setup = await setUp({}, { apiToken: 'fixed-token' })
  await setup.readPage()
  expect(setup.bearers()).toEqual(['Bearer fixed-token'])
  expect(setup.countFetched()).toBe(0)
  await fetchTicket(setup.connection, ticketRequest)
  const ticketCall = setup.service.requests.at(-1)
  expect(ticketCall?.query).toMatchObject({ appid: 'app-1', token: 'token-1', scope: 'guest' })
  expect(ticketCall?.headers.authorization).toBeUndefined()
})

test('a web page in answer to 4.1 is asked past, and does not count as refused credentials', async () => {
  await using setup = await setUp({ refusal: { status: 400, text: '<html>' } })
  const message = /400 \(an HTML page of 6 characters instead of JSON\): no token service.*check it \(asked 3 times\)$/
  expect(await errorOf(setup.readPage())).toMatchObject({
    code: 'api.wrongAuthUrl',
    message: expect.stringMatching(message),
  })
  expect(setup.countFetched()).toBe(3)
})

test.each<[string, ScriptedAnswer]>([
  ['errcode', { json: { errcode: 401001, msg: 'Unauthorized user' } }],
  ['no such user', { json: { errcode: 404001, msg: 'No such user' } }],
  ['errors', { status: 401, json: { errors: { code: 401001, message: 'Unauthorized user' } } }],
  ['403', { status: 403, text: '' }],
  ['400', { status: 400, text: '' }],
])('a failure of 4.1 by %s means refused credentials, and is not repeated', async (_case, refusal) => {
  await using setup = await setUp({ refusal })
  const error = await errorOf(setup.readPage())
  expect(error).toMatchObject({ code: 'api.credentialsRefused' })
  expect(String(error)).toContain('LIVEHOUSE_APP_SECRET')
  expect(setup.countFetched()).toBe(1)
})
