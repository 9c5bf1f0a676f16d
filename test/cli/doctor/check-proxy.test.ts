import { expect, test } from 'vitest'
import { checkProxy } from '../../../src/cli/doctor/check-proxy.ts'
import { startScriptedService } from '../../helpers/scripted-service.ts'

const { signal } = new AbortController()
const settingsOf = (https: string | null, none: string | null = null) => ({
  proxies: { http: null, https, none },
  requestTimeoutMs: 5000,
})

test('a proxy that takes connections, and one that does not; its password is never shown', async () => {
  await using proxy = await startScriptedService(() => ({ json: {} }))
  const { host } = new URL(proxy.url)
  const good = await checkProxy('base proxy', 'https://a.example', settingsOf(`http://me:hush@${host}`), signal)
  expect(good).toMatchObject({ result: 'ok', seen: `http://${host} takes connections` })
  const bad = await checkProxy('base proxy', 'https://a.example', settingsOf('http://me:hush@127.0.0.1:1'), signal)
  expect(bad).toMatchObject({
    result: 'failed',
    seen: 'http://127.0.0.1:1 takes no connection (ECONNREFUSED)',
    mend: expect.stringContaining('NO_PROXY'),
  })
})

test('none, and none for this address', async () => {
  expect(await checkProxy('base proxy', 'https://a.example', settingsOf(null), signal)).toMatchObject({
    result: 'skipped',
    seen: 'none is set',
  })
  const excepted = await checkProxy('base proxy', 'https://a.example', settingsOf('http://p', 'example'), signal)
  expect(excepted).toMatchObject({ result: 'skipped', seen: 'none for this address (NO_PROXY=example)' })
})
