import { parseEnv } from 'node:util'
import { expect, test } from 'vitest'
import { api } from '../../src/cli/api.ts'
import { emulate } from '../../src/cli/emulate.ts'
import { createTestContext } from '../helpers/cli-context.ts'
import { rawCall } from '../helpers/raw-call.ts'
import { runVerb } from '../helpers/run-verb.ts'

const SMALL = ['--channels', '1', '--viewers', '1']

/** Runs the verb until it has printed everything, hands the lines and the remark to `use`, and interrupts it. */
async function whileEmulating(argv: readonly string[], use: (lines: readonly string[], remark: string) => unknown) {
  const controller = new AbortController()
  const ready = Promise.withResolvers<string>()
  const { context, printed } = createTestContext({ signal: controller.signal, remark: ready.resolve })
  const running = emulate.run(context, argv)
  await use(printed, String(await Promise.race([ready.promise, running])))
  controller.abort()
  return await running
}

const valueIn = (lines: readonly string[], name: string) => parseEnv(lines.join('\n'))[name] ?? ''

test('emulate prints a matching .env, serves, and ends when interrupted', async () => {
  let baseUrl = ''
  const code = await whileEmulating(['--channels', '2', '--viewers', '5'], async (lines, remark) => {
    baseUrl = valueIn(lines, 'LIVEHOUSE_BASE_URL')
    expect(valueIn(lines, 'LIVEHOUSE_AUTH_URL')).toBe(`${baseUrl}/auth`)
    const [channelId] = valueIn(lines, 'LIVEHOUSE_CHANNELS').split(',')
    const url = `${baseUrl}/v2/activities/${channelId}/visitorList`
    const { json } = await rawCall({ method: 'POST', url, bearer: valueIn(lines, 'LIVEHOUSE_API_TOKEN'), body: {} })
    expect(json).toMatchObject({ total_num: 5 })
    const [, hashId = ''] = /hash id of channel \d+ is (\w+)/.exec(remark) ?? []
    const ticket = 'ticket --scope guest --outerid u --username u --client-ip 203.0.113.7 --hash-act-id'.split(' ')
    const environment = { ...parseEnv(lines.join('\n')), DATABASE_URL: '' }
    expect(await runVerb(api, [...ticket, hashId], { environment })).toMatchObject({ code: 0 })
  })
  expect(code).toBe(0)
  await expect(rawCall({ url: baseUrl })).rejects.toThrow('ECONNREFUSED')
})

test('if the port is in use another is found, unless the port was given', async () => {
  await whileEmulating(SMALL, async (lines) => {
    const { port } = new URL(valueIn(lines, 'LIVEHOUSE_BASE_URL'))
    await whileEmulating(SMALL, async (others) => {
      expect(new URL(valueIn(others, 'LIVEHOUSE_BASE_URL')).port).not.toBe(port)
    })
    const { error } = await runVerb(emulate, [...SMALL, '--port', port], {})
    expect(error).toMatchObject({ code: 'usage.invalid', message: expect.stringContaining(port) })
  })
})
