import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { createRedactor } from '../../src/log/redact.ts'
import type { Connection } from '../../src/service/connect.ts'
import { saveMenu } from '../../src/service/other-calls.ts'
import { connectClient, errorOf, fetchTicket, openContext } from '../helpers/connect-client.ts'
import { listOf } from '../helpers/emulated-client.ts'
import { createRecordingLog } from '../helpers/recording-log.ts'
import { type ScriptedAnswer, type SeenRequest, startScriptedService } from '../helpers/scripted-service.ts'

const appSecret = 'S3cret/of+the app&"日"'
const fixed = 'fixed-bearer-0123456789'
const issued = 'issued-token-0123456789'
const proxyPassword = 'proxy-pass-0123'
const spellings = [appSecret, encodeURIComponent(appSecret), JSON.stringify(appSecret).slice(1, -1)]
const hidden = [...spellings, fixed, issued, proxyPassword]

type Ask = (connection: Connection) => Promise<unknown>
const paging = { page: 1, pageSize: 10 }
const calls: Readonly<Record<string, Ask>> = {
  token: (connection) => connection.accessToken(openContext()),
  ticket: (connection) =>
    fetchTicket(connection, { scope: 'guest', outerid: 'u', hash_act_id: 'h', client_ip: '203.0.113.7' }),
  menu: ({ send }) => saveMenu(send, { channelId: '9', menuId: undefined }, {}, openContext()),
  visitors: (connection) =>
    connection.fetchPage({ list: listOf('visitors', { channel: '9' }), ...paging }, openContext()),
  gifts: (connection) =>
    connection.fetchPage({ list: listOf('gifts', { channel: '9', type: 'cash' }), ...paging }, openContext()),
  managers: (connection) => connection.fetchPage({ list: listOf('managers'), ...paging }, openContext()),
}

/** Everything that the service received, as it might repeat it. */
function echo({ path, query, headers }: SeenRequest): string {
  const address = `${path}?${new URLSearchParams(query).toString()}`
  return `${fixed} ${issued} ${appSecret} ${address} ${JSON.stringify({ query, headers })}`
}

const failures: Readonly<Record<string, (request: SeenRequest) => ScriptedAnswer>> = {
  errcode: (request) => ({ json: { errcode: 4001, msg: echo(request) } }),
  'a code of text': () => ({ json: { errcode: fixed, msg: issued } }),
  errors: (request) => ({ status: 400, json: { errors: { code: 400001, message: echo(request) } } }),
  'errors as text': (request) => ({ status: 400, json: { errors: echo(request) } }),
  'status n': (request) => ({ json: { status: 'n', msg: echo(request) } }),
  401: (request) => ({ status: 401, json: { errors: { code: 401001, message: echo(request) } } }),
  429: (request) => ({ status: 429, json: { errcode: 429001, msg: echo(request) } }),
  502: (request) => ({ status: 502, text: echo(request) }),
  HTML: (request) => ({ text: `<html><title>${echo(request)}</title>` }),
  'cut JSON': (request) => ({ text: `{"access_token":"${issued}","errors":"${echo(request)}` }),
  empty: () => ({ text: '' }),
  'another shape': () => ({ json: { [fixed]: issued, msg: appSecret } }),
  'a text': (request) => ({ json: echo(request) }),
  redirect: (request) => {
    const location = `http://user:${fixed}@elsewhere.example${encodeURI(echo(request))}`
    return { status: 302, headers: { location }, text: '' }
  },
  'a lost connection': () => ({ raw: (response) => response.destroy() }),
  'a cut body': () => ({
    raw: (response) => {
      response.writeHead(200, { 'content-length': '1000', 'x-echo': issued })
      response.write(`{"a":"${fixed}`)
      setImmediate(() => response.destroy())
    },
  }),
  'a broken header': (request) => ({
    raw: (response) =>
      void response.socket?.end(`HTTP/1.1 200 OK\r\n${encodeURI(echo(request))}: ${fixed}\x01\r\n\r\n`),
  }),
  'an encoding': () => ({ headers: { 'content-encoding': fixed }, text: issued }),
  'no answer': () => ({ raw: () => {} }),
}

function spread(error: unknown): string {
  const chain: unknown[] = [error]
  for (let at = error; at instanceof Error; at = at.cause)
    chain.push(at.message, at.stack, Object.entries(at), JSON.stringify(at), String(at))
  return chain.map((part) => inspect(part, { depth: 20, showHidden: true })).join('\n')
}

function expectHidden(text: string, values: readonly string[]): void {
  for (const value of values) expect(text).not.toContain(value)
  expect(text).not.toMatch(/[?&](secret|token|appid)=/)
}

describe('no failure shows a secret, a token or the address that carried them', () => {
  const cases = [
    ...Object.keys(failures).map((kind) => [kind, 'visitors'] as const),
    ...Object.keys(calls).map((name) => ['errcode', name] as const),
    ['cut JSON', 'token'],
    ['redirect', 'token'],
    ['502', 'ticket'],
  ] as const
  test.each(cases)('failure "%s" of the call "%s"', async (kind, name) => {
    await using service = await startScriptedService((request) => {
      const isOtherTokenCall = name !== 'token' && request.path.endsWith('/token')
      if (isOtherTokenCall) return { json: { errcode: 1000, access_token: issued, expire_time: 7200 } }
      return failures[kind]?.(request) ?? {}
    })
    const { log, lines } = createRecordingLog()
    const secrets: string[] = []
    const redactor = createRedactor([appSecret, fixed])
    await using connection = connectClient(service.url, {
      appId: 'app-1',
      appSecret,
      apiToken: fixed,
      log,
      requestTimeoutMs: kind === 'no answer' ? 30 : 5000,
      addSecret: (value) => {
        secrets.push(value)
        redactor.add(value)
      },
      redact: redactor.text,
    })
    // From here on the fetched token is known, as in a client that has worked for a while.
    if (name !== 'token') await connection.accessToken(openContext())
    expect(secrets).toEqual(name === 'token' ? [] : [issued])
    const error = await errorOf(calls[name]?.(connection) ?? Promise.resolve())
    expect(error).toMatchObject({ name: 'LivehouseError' })
    const known = name === 'token' ? hidden.filter((value) => value !== issued) : hidden
    expectHidden(`${spread(error)}\n${inspect(lines, { depth: 20 })}`, known)
  })

  test('an unreachable service behind a proxy with a password', async () => {
    const proxy = `http://user:${proxyPassword}@127.0.0.1:1`
    await using connection = connectClient('http://service.invalid', {
      apiToken: fixed,
      appId: 'app-1',
      appSecret,
      proxies: { http: proxy, https: proxy, none: null },
      redact: createRedactor([appSecret, fixed, proxyPassword]).text,
    })
    for (const ask of Object.values(calls)) expectHidden(spread(await errorOf(ask(connection))), hidden)
  })
})
