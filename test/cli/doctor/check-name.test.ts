import { expect, test } from 'vitest'
import { checkName, resolveName } from '../../../src/cli/doctor/check-name.ts'

const options = { variable: 'LIVEHOUSE_BASE_URL', proxy: null, resolve: resolveName }

test('a name that resolves is shown with its addresses', async () => {
  const check = await checkName('base DNS', 'https://localhost:8443/x', options)
  expect(check).toMatchObject({ result: 'ok', seen: expect.stringMatching(/^localhost is .*(127\.0\.0\.1|::1)/) })
})

test.each([
  ['ENOTFOUND', 'check the name in LIVEHOUSE_BASE_URL'],
  ['EAI_AGAIN', 'the name server that this machine asks'],
])('%s is told with what to do', async (code, mend) => {
  const resolve = async () => await Promise.reject(Object.assign(new Error('no'), { code }))
  expect(await checkName('base DNS', 'https://api.example.com', { ...options, resolve })).toMatchObject({
    result: 'failed',
    seen: `api.example.com does not resolve (${code})`,
    mend: expect.stringContaining(mend),
  })
})

test('an address needs no name, and behind a proxy it is the proxy that asks', async () => {
  expect(await checkName('base DNS', 'https://[::1]:1', options)).toMatchObject({
    result: 'skipped',
    seen: expect.stringContaining('::1 is'),
  })
  const proxied = await checkName('base DNS', 'https://api.example.com', { ...options, proxy: 'http://p' })
  expect(proxied).toMatchObject({ result: 'skipped' })
})
