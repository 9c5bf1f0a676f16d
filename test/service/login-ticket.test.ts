import { describe, expect, test } from 'vitest'
import { readTicket, ticketCall } from '../../src/service/login-ticket.ts'
import { hasCode } from '../../src/core/errors.ts'
import { askTicket, connectClient, errorOf } from '../helpers/connect-client.ts'
import { startScriptedService } from '../helpers/scripted-service.ts'

const request = { scope: 'outer_visitor', outerId: 'user42', hashActId: 'exov5dm9', clientIp: '203.0.113.7' }

/** The rule that a request breaks; undefined for a good one. */
function brokenRule(changes: object): string | undefined {
  try {
    ticketCall({ ...request, ...changes })
  } catch (error) {
    if (hasCode(error, 'api.invalidRequest')) return error.details.rule
    throw error
  }
  return undefined
}

describe('what is checked before it is sent', () => {
  test.each<[string, object, RegExp]>([
    ['an unknown scope', { scope: 'admin' }, /^scope is one of sub_manager, guest/],
    ['no outerid', { outerId: '' }, /^outerid must not be empty/],
    ['33 letters', { outerId: 'a'.repeat(33) }, /at most 32 units/],
    ['11 Chinese characters', { outerId: '频'.repeat(11) }, /at most 32 units/],
    ['10 Chinese characters and 3 digits', { outerId: `${'频'.repeat(10)}123` }, /this one has 33/],
    ['no hash id', { hashActId: '' }, /^hash_act_id/],
    ['a host name as IP', { clientIp: 'localhost' }, /^client_ip/],
    ['an assistant without title', { scope: 'act_assistant' }, /^title is required for scope act_assistant/],
    ['an unknown title', { scope: 'act_assistant', title: 'boss' }, /^title is one of emcee, guest, assistant/],
  ])('%s', (_case, changes, rule) => {
    expect(brokenRule(changes)).toMatch(rule)
  })

  test('a bad value makes no call, and the message shows rule and value', async () => {
    await using service = await startScriptedService(() => ({ json: {} }))
    await using connection = connectClient(service.url, { appId: 'app', appSecret: 'secret' })
    const error = await errorOf(askTicket(connection, { ...request, clientIp: '1.2.3' }))
    expect(String(error)).toContain('client_ip is an IP address, but "1.2.3" was given; no call was made')
    expect(service.requests).toHaveLength(0)
  })
})

test('the parameters go out under the names of the spec', () => {
  const call = ticketCall({ ...request, username: 'u', nickname: 'n', userAvatar: 'http://a/b.png', title: 'guest' })
  expect(call).toMatchObject({ method: 'GET', host: 'auth', path: '/v2/oauth2/ticket', repeat: 'never' })
  expect(call.query).toEqual({
    scope: 'outer_visitor',
    outerid: 'user42',
    hash_act_id: 'exov5dm9',
    client_ip: '203.0.113.7',
    username: 'u',
    nickname: 'n',
    user_avatar: 'http://a/b.png',
    title: 'guest',
  })
})

describe('the ticket of the answer', () => {
  test.each([{ tikect: 't1' }, { ticket: 't1' }, { tikect: 't1', ticket: 't2' }])('%j', (json) => {
    expect(readTicket({ json, serviceTimeMs: undefined })).toBe('t1')
  })

  test.each([{ errcode: 1000, msg: 'invalid scope' }, { tikect: '' }, { tikect: 7 }, [], null])(
    'none in %j',
    (json) => {
      expect(() => readTicket({ json, serviceTimeMs: undefined })).toThrow(/no login ticket/)
    },
  )

  test.each([{ status: 502 }, { status: 429 }, { json: { errcode: 7, msg: 'busy' } }])(
    'a failure is not repeated: a ticket may have been issued (%j)',
    async (answer) => {
      await using service = await startScriptedService(({ path }) =>
        path.endsWith('token') ? { json: { access_token: 'token-1' } } : { text: '', ...answer },
      )
      await using connection = connectClient(service.url, { appId: 'app', appSecret: 'secret' })
      await errorOf(askTicket(connection, request))
      expect(service.requests.filter(({ path }) => path.endsWith('ticket'))).toHaveLength(1)
    },
  )
})
