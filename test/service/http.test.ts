import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { createServer } from 'node:net'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { hasCode } from '../../src/core/errors.ts'
import { createHttp, type Http, type HttpOptions } from '../../src/service/http.ts'
import type { Call } from '../../src/service/send.ts'
import { errorOf, openContext } from '../helpers/connect-client.ts'
import { startScriptedService } from '../helpers/scripted-service.ts'
import { startStallingProxy } from '../helpers/stalling-proxy.ts'

const call: Call = {
  endpoint: 'managers',
  name: 'GET managers page 1',
  method: 'GET',
  host: 'base',
  path: '/v1/account/managers',
  authorization: 'bearer',
  retries: 'read',
}

function openHttp(baseUrl: string, overrides: Partial<HttpOptions> = {}): Http {
  return createHttp({
    baseUrl,
    authUrl: null,
    concurrency: 4,
    timeoutMs: 10_000,
    proxies: { http: null, https: null, none: null },
    redact: (text) => text,
    ...overrides,
  })
}

async function failureOf(baseUrl: string, overrides: Partial<HttpOptions> = {}, name = call.name) {
  await using http = openHttp(baseUrl, overrides)
  return await errorOf(http.exchange({ ...call, name }, openContext()))
}

test('a proxy that is configured is used, and a host without proxy is reached directly', async () => {
  await using proxy = await startScriptedService((request) => ({ json: { proxied: request.headers.host } }))
  await using service = await startScriptedService(() => ({ json: 'direct' }))
  const proxies = { http: proxy.url, https: null, none: null }
  await using proxied = openHttp('http://service.invalid', { proxies })
  expect((await proxied.exchange(call, openContext())).text).toBe('{"proxied":"service.invalid"}')
  await using direct = openHttp(service.url, { proxies: { ...proxies, none: '127.0.0.1' } })
  expect((await direct.exchange(call, openContext())).text).toBe('"direct"')
})

test.each<[string, number]>([
  ['never answers', Infinity],
  ['drips, so that bytes keep coming', 10],
])('a call to a service that %s is given up', async (_, everyMs) => {
  let drip: NodeJS.Timeout | undefined
  const raw = (response: ServerResponse) => {
    if (everyMs === Infinity) return
    response.writeHead(200)
    drip = setInterval(() => response.write(' '), everyMs)
  }
  await using service = await startScriptedService(() => ({ raw }))
  const error = await failureOf(service.url, { timeoutMs: 100 })
  clearInterval(drip)
  expect(hasCode(error, 'api.timeout')).toBe(true)
  expect(String(error)).toContain('GET managers page 1: no complete answer within 0.1 s')
})

test('a refusal of the proxy is quoted', async () => {
  const proxy = createServer((socket) => socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n'))
  await once(proxy.listen(0, '127.0.0.1'), 'listening')
  const proxies = { http: null, https: `http://user:secret@127.0.0.1:${Object(proxy.address()).port}`, none: null }
  const error = await failureOf('https://service.invalid', { proxies }).finally(() => proxy.close())
  expect(String(error)).toMatch(/service.invalid .UND_ERR_ABORTED: Proxy response .407. [^:@]+$/)
})

test('a proxy that never answers requests for tunnels holds up neither a call nor the next tunnel', async () => {
  await using proxy = await startStallingProxy('http://service.invalid')
  proxy.stall()
  const proxies = { http: null, https: proxy.url, none: null }
  await using http = openHttp('https://service.invalid', { proxies, timeoutMs: 100, concurrency: 1 })
  const connections = 3
  for (let calls = 0; calls < 50 && proxy.acceptedConnections() <= connections; calls += 1)
    expect(await errorOf(http.exchange(call, openContext()))).toMatchObject({ code: 'api.timeout' })
  expect(proxy.acceptedConnections()).toBeGreaterThan(connections)
  await using patient = openHttp('https://service.invalid', { proxies, timeoutMs: 3_600_000 })
  const signal = AbortSignal.timeout(100)
  expect(await errorOf(patient.exchange(call, { signal }))).toBe(signal.reason)
})

const sendTwoChunks = (encoding: string, body: Buffer) => (response: ServerResponse) => {
  response.writeHead(200, { 'content-encoding': encoding }).write(body.subarray(0, 9))
  response.end(body.subarray(9))
}
test.each([
  ['gzip', gzipSync],
  ['X-GZIP', gzipSync],
  ['deflate', deflateSync],
  ['br', brotliCompressSync],
  ['identity', (text: string) => Buffer.from(text)],
] as const)('a body in the encoding %s, which nobody requested, is unpacked up to the cap', async (encoding, pack) => {
  await using service = await startScriptedService(() => ({ raw: sendTwoChunks(encoding, pack('x'.repeat(2000))) }))
  await using http = openHttp(service.url, { maxBodyBytes: 2000 })
  expect((await http.exchange(call, openContext())).text).toHaveLength(2000)
  expect(service.requests[0]?.headers['accept-encoding']).toBe('identity')
  expect(await failureOf(service.url, { maxBodyBytes: 1999 })).toMatchObject({ code: 'api.bodyRefused' })
})

test('a body that cannot be unpacked is bad, an empty one is not; an unknown encoding is refused', async () => {
  const packed = gzipSync('x'.repeat(2000))
  await using cut = await startScriptedService(() => ({ raw: sendTwoChunks('gzip', packed.subarray(0, 20)) }))
  expect(await failureOf(cut.url)).toMatchObject({ code: 'api.badBody' })
  await using plain = await startScriptedService(() => ({ raw: sendTwoChunks('gzip', Buffer.from('{}')) }))
  const unpacked = await failureOf(plain.url)
  expect(unpacked).toMatchObject({ code: 'api.badBody' })
  expect(String(unpacked)).toContain('cannot be unpacked as gzip')
  await using empty = await startScriptedService(() => ({ raw: sendTwoChunks('gzip', Buffer.alloc(0)) }))
  await using http = openHttp(empty.url)
  expect(await http.exchange(call, openContext())).toMatchObject({ status: 200, text: '' })
  await using odd = await startScriptedService(() => ({ raw: sendTwoChunks('compress', packed) }))
  const error = await failureOf(odd.url)
  expect(error).toMatchObject({ code: 'api.bodyRefused' })
  expect(String(error)).toContain('the encoding "compress"')
})

test('the caller can end a call at once, with its own reason', async () => {
  await using service = await startScriptedService(() => ({ raw: () => controller.abort(new Error('enough')) }))
  const controller = new AbortController()
  await using http = openHttp(service.url)
  await expect(http.exchange(call, { signal: controller.signal })).rejects.toThrow('enough')
  await expect(http.exchange(call, { signal: controller.signal })).rejects.toThrow('enough')
  expect(service.requests).toHaveLength(1)
})
