import { describe, expect, test } from 'vitest'
import { readTicket, ticketCall } from '../../src/service/login-ticket.ts'
import { askTicket, connectClient, errorOf } from '../helpers/connect-client.ts'
import { startScriptedService } from '../helpers/scripted-service.ts'

const request = { scope: 'outer_visitor', outerId: 'user42', hashActId: 'exov5dm9', clientIp: '203.0.113.7' }

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
