import { expect, test } from 'vitest'
import { readHttpSettings } from '../../src/config/read-http.ts'
import { createSettingSource } from '../../src/config/setting-source.ts'

const TOKEN = { LIVEHOUSE_HTTP_TOKEN: 'sixteen-letters-x' }

function read(values: Readonly<Record<string, string>>) {
  const source = createSettingSource(values)
  return { ...readHttpSettings(source), problems: source.problems() }
}

test.each([
  [{}, { host: '127.0.0.1', port: 8787 }],
  [{ LIVEHOUSE_HTTP: 'localhost:9000' }, { host: 'localhost', port: 9000 }],
  [{ LIVEHOUSE_HTTP: '[::1]:0' }, { host: '::1', port: 0 }],
  [{ LIVEHOUSE_HTTP: 'off' }, undefined],
])('%j is where it listens', (values, listen) => {
  expect(read(values)).toMatchObject({ listen, problems: [] })
})

const badAddresses = ['8787', '::1:8787', 'example.com:8787', '127.0.0.1:65536', '127.0.0.1:', '300.0.0.1:1']
test.each(badAddresses)('%s is not an address to listen on', (value) => {
  const problem = `LIVEHOUSE_HTTP is "${value}"; it should be an address and a port such as 127.0.0.1:8787 or [::1]:8787, or off`
  expect(read({ LIVEHOUSE_HTTP: value }).problems).toEqual([problem])
})

test.each(['0.0.0.0:8787', '[::]:8787', '10.0.0.7:8787'])('%s, which others can reach, needs a token', (value) => {
  const problem = `LIVEHOUSE_HTTP_TOKEN is not set, but LIVEHOUSE_HTTP is "${value}", which others can reach`
  expect(read({ LIVEHOUSE_HTTP: value }).problems).toEqual([expect.stringContaining(problem)])
  const [, host, port] = /^\[?(.*?)\]?:(\d+)$/.exec(value) ?? []
  const listen = { host, port: Number(port) }
  expect(read({ LIVEHOUSE_HTTP: value, ...TOKEN })).toMatchObject({ listen, problems: [] })
})

test.each(['two words of sixteen', 'fifteen-letters'])('the token "%s" is refused, and never shown', (value) => {
  const { problems, token } = read({ LIVEHOUSE_HTTP_TOKEN: value, LIVEHOUSE_HTTP: '0.0.0.0:1' })
  expect(token).toBeUndefined()
  expect(problems).toHaveLength(1)
  expect(problems.join()).not.toContain(value)
})
