import { expect, test } from 'vitest'
import { api } from '../../src/cli/api.ts'
import { startEmulator } from '../../src/emulator/server.ts'
import { createFakeClock } from '../helpers/fake-clock.ts'
import { refusal } from '../helpers/fault-effects.ts'
import { ofFile } from '../helpers/of-file.ts'
import { credentialsOf, runVerb } from '../helpers/run-verb.ts'

const emulator = ofFile(() => startEmulator({ channels: 1, viewers: 20, days: 2 }))

async function run(...argv: string[]) {
  const secrets: string[] = []
  const addSecret = (value: string) => void secrets.push(value)
  const options = { environment: credentialsOf(emulator), addSecret, clock: createFakeClock({ isAutomatic: true }) }
  const { printed, ...result } = await runVerb(api, argv, options)
  return { ...result, lines: printed, text: printed.join('\n'), secrets }
}

const hashId = () => emulator.world.channels.get(emulator.channelIds[0] ?? '')?.hashId ?? ''
const guest = ['--scope', 'guest', '--outerid', 'u1', '--client-ip', '203.0.113.7']
const ticketFlags = () => [...guest, '--hash-act-id', hashId()]

test('api token shows only the ends of the token, and its validity', async () => {
  const { code, text, secrets } = await run('token')
  const [token = ''] = secrets
  expect(code).toBe(0)
  expect(text).toContain(`${token.slice(0, 4)}…${token.slice(-4)} (${token.length} characters)`)
  expect(text).not.toContain(token)
  expect(text).toMatch(/valid {4}7200 s, until 20/)
})

test('a call that the service refuses for the moment is given up within ten seconds', async () => {
  const clock = createFakeClock({ isAutomatic: true })
  const startMs = clock.now()
  emulator.faults.push({ effect: refusal(429001) })
  const { error } = await runVerb(api, ['token'], { environment: credentialsOf(emulator), clock })
  expect(error).toMatchObject({ code: 'api.rateLimited' })
  emulator.faults.length = 0
  expect(clock.now() - startMs).toBeLessThan(10_000)
})

test('api ticket prints a ticket and where it is redeemed', async () => {
  const { text, secrets } = await run('ticket', ...ticketFlags(), '--username', '观众')
  const ticket = secrets.at(-1) ?? ''
  expect(text).toContain(`ticket   ${ticket}`)
  const url = /https?:\S+/.exec(text)?.[0] ?? ''
  expect(url).toBe(`${emulator.authUrl}/v2/oauth2/authorize?ticket=${encodeURIComponent(ticket)}`)
})

test("a parameter that the service refuses is reported in the service's words", async () => {
  const { error } = await run('ticket', ...ticketFlags(), '--title', 'boss')
  expect(error).toMatchObject({ message: 'GET ticket: 400 (code 400001 "Invalid parameters: title")' })
})

test('api menu creates a menu, renames it and clears its text', async () => {
  const [channelId = ''] = emulator.channelIds
  const [vid = 0] = emulator.world.videoIds
  const runMenu = async (action: string, ...flags: string[]) =>
    await run('menu', action, '--channel', channelId, ...flags)
  const created = await runMenu('create', '--name', '回放', '--vid', String(vid), '--rich-text', '<p>hi</p>')
  expect(created.lines).toEqual([expect.stringMatching(/^menu \d+ of channel .*: success$/)])
  const menuId = Number(/^menu (\d+) /.exec(created.text)?.[1])
  const menu = () => emulator.world.channels.get(channelId)?.menus.get(menuId)
  expect(menu()).toMatchObject({ name: '回放', videoIds: [vid], richText: '<p>hi</p>' })
  const updated = await runMenu('update', '--menu-id', String(menuId), '--name', '互动', '--rich-text', '')
  expect(updated.lines).toEqual([`menu ${menuId} of channel ${channelId}: success`])
  expect(menu()).toMatchObject({ name: '互动', videoIds: [vid], richText: '' })
})
