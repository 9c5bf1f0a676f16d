import { expect, test } from 'vitest'
import { createHttp } from '../../src/api/http.ts'
import { proxyOf } from '../../src/api/proxy-of.ts'
import { createSecrets } from '../../src/api/secrets.ts'
import { openContext } from '../helpers/connect-client.ts'
import { startScriptedService } from '../helpers/scripted-service.ts'

const [http, https] = ['http://plain:3128', 'http://safe:3128']

test.each([
  ['https://api.example.com', null, https],
  ['http://api.example.com', null, http],
  ['https://api.example.com', 'example.com', null],
  ['https://api.example.com', '.example.com', null],
  ['https://example.com', '*.example.com', https],
  ['https://API.example.com.', 'other.cn, *.Example.com', null],
  ['https://notexample.com', 'example.com', https],
  ['https://api.example.com', 'example.com:443', null],
  ['https://api.example.com:8443', 'example.com:443', https],
  ['https://[::1]:8443', '::1', null],
  ['https://[::1]:8443', '[::1]:8443', null],
  ['https://api.example.com', '*', null],
])('%s with NO_PROXY=%s goes through %s', (address, none, proxy) => {
  expect(proxyOf(address, { http, https, none })).toBe(proxy)
})

test('without a proxy of its own https takes that of http', () => {
  expect(proxyOf('https://api.example.com', { http, https: null, none: null })).toBe(http)
})

test('calls go where it says', async () => {
  await using target = await startScriptedService(() => ({ json: {} }))
  await using proxy = await startScriptedService(() => ({ status: 502, json: {} }))
  const { port } = new URL(target.url)
  const ways: boolean[] = []
  const exceptions = ['localhost', '127.0.0.1', '0.0.1', `127.0.0.1:${port}`, '127.0.0.1:1', '*', '*.0.0.1', '']
  for (const none of exceptions) {
    const proxies = { http: proxy.url, https: null, none }
    const seen = target.requests.length
    await using connection = createHttp({
      baseUrl: target.url,
      authUrl: null,
      concurrency: 1,
      timeoutMs: 5000,
      proxies,
      secrets: createSecrets([], () => {}),
    })
    const call = { name: 'GET /', method: 'GET', host: 'base', path: '/' } as const
    await connection.exchange(call, openContext()).catch(() => {})
    const isStraight = target.requests.length > seen
    expect([none, isStraight]).toEqual([none, proxyOf(target.url, proxies) === null])
    ways.push(isStraight)
  }
  expect(ways).toContain(true)
  expect(ways).toContain(false)
})
