import { describe, expect, test } from 'vitest'
import { api } from '../../src/cli/api.ts'
import { exitCodeOfError } from '../../src/cli/failure.ts'
import { refusal } from '../helpers/fault-effects.ts'
import { startEmulator } from '../../src/emulator/server.ts'
import { createFakeClock } from '../helpers/fake-clock.ts'
import { ofFile } from '../helpers/of-file.ts'
import { credentialsOf, runVerb } from '../helpers/run-verb.ts'

const emulator = ofFile(() => startEmulator({ channels: 1, viewers: 20, days: 2 }))

async function run(...argv: string[]) {
  const secrets: string[] = []
  const addSecret = (value: string) => void secrets.push(value)
  const { printed, ...ran } = await runVerb(api, argv, { environment: credentialsOf(emulator), addSecret })
  return { ...ran, lines: printed, text: printed.join('\n'), secrets }
}

/** What was refused as wrong use, one problem a line; nothing may have been called. */
async function problemsOf(...argv: string[]): Promise<string> {
  const before = emulator.calls.length
  const { error, problems } = await run(...argv)
  expect(exitCodeOfError(error)).toBe(2)
  expect(emulator.calls).toHaveLength(before)
  return [String(error), ...problems].join('\n')
}

const menuIdIn = (text: string) => Number(/^menu (\d+) /.exec(text)?.[1])
const hashId = () => emulator.world.channels.get(emulator.channelIds[0] ?? '')?.hashId ?? ''
const guest = ['--scope', 'guest', '--outerid', 'u1', '--client-ip', '203.0.113.7']
const ticketFlags = () => [...guest, '--hash-act-id', hashId()]

test('api token shows the ends of the token and its validity', async () => {
  const { code, text, secrets } = await run('token')
  const [token = ''] = secrets
  expect(code).toBe(0)
  expect(text).toContain(`${token.slice(0, 4)}…${token.slice(-4)} (${token.length} characters)`)
  expect(text).not.toContain(token)
  expect(text).toMatch(/valid {4}7(200|199) s, until 20/)
})

test('what the service refuses for the moment is given up within ten seconds', async () => {
  const clock = createFakeClock({ isAutomatic: true })
  const startMs = clock.now()
  emulator.faults.push({ effect: refusal(429001) })
  const { error } = await runVerb(api, ['token'], { environment: credentialsOf(emulator), clock })
  expect(error).toMatchObject({ code: 'api.rateLimited' })
  emulator.faults.length = 0
  expect(clock.now() - startMs).toBeLessThan(10_000)
})

describe('api ticket', () => {
  test('prints a ticket and where it is redeemed', async () => {
    const { text, secrets } = await run('ticket', ...ticketFlags(), '--username', '观众')
    const ticket = secrets.at(-1) ?? ''
    expect(text).toContain(`ticket   ${ticket}`)
    const url = /https?:\S+/.exec(text)?.[0] ?? ''
    expect(url).toBe(`${emulator.authUrl}/v2/oauth2/authorize?ticket=${encodeURIComponent(ticket)}`)
  })

  test('all that is missing is said at once, as wrong use', async () => {
    const problems = await problemsOf('ticket', '--title', '')
    expect(problems).toContain('--title needs a value')
    for (const flag of ['--scope', '--outerid', '--hash-act-id', '--client-ip'])
      expect(problems).toContain(`${flag} is not given`)
  })

  test('what the service does not accept is said in its words', async () => {
    const { error } = await run('ticket', ...ticketFlags(), '--title', 'boss')
    expect(error).toMatchObject({ message: 'GET ticket: 400 (code 400001 "Invalid parameters: title")' })
  })
})

describe('api menu', () => {
  test('adds one and changes it', async () => {
    const [channelId = ''] = emulator.channelIds
    const [vid = 0] = emulator.world.videoIds
    const created = await run('menu', 'create', '--channel', channelId, '--name', '回放', '--vid', String(vid))
    expect(created.lines).toEqual([expect.stringMatching(/^menu \d+ of channel .*: success$/)])
    const menuId = menuIdIn(created.text)
    const updated = await run('menu', 'update', '--channel', channelId, '--menu-id', String(menuId), '--name', '互动')
    expect(updated.lines).toEqual([`menu ${menuId} of channel ${channelId}: success`])
    const menu = emulator.world.channels.get(channelId)?.menus.get(menuId)
    expect(menu).toMatchObject({ name: '互动', videoIds: [vid] })
  })

  test('clears the text of one, and takes no flag without a value', async () => {
    const [channelId = ''] = emulator.channelIds
    const where = ['--channel', channelId]
    const menuId = menuIdIn((await run('menu', 'create', ...where, '--type', '2', '--rich-text', '<p>hi</p>')).text)
    const menu = () => emulator.world.channels.get(channelId)?.menus.get(menuId)
    expect(menu()).toMatchObject({ richText: '<p>hi</p>' })
    const update = ['menu', 'update', ...where, '--menu-id', String(menuId)]
    await run(...update, '--rich-text', '')
    expect(menu()).toMatchObject({ richText: '' })
    expect(await problemsOf(...update, '--rich-text')).toContain('--rich-text needs a value')
  })

  test.each<[string[], string]>([
    [['create'], '--channel is not given'],
    [['update', '--channel', '9'], '--menu-id is not given'],
    [['create', '--channel', '9', '--vid', '1.5'], '--vid is "1.5"'],
    [['create', '--channel', '9', '--type', '5'], '--type is "5"; it should be a whole number from 1 to 4'],
    [['create', '--channel', '../9'], 'a channel id consists of'],
    [['delete'], 'there is no action "menu"; did you mean menu create?'],
  ])('%j is refused before anything is sent', async (argv, problem) => {
    expect(await problemsOf('menu', ...argv)).toContain(problem)
  })
})

test('without an action they are named', async () => {
  expect(await problemsOf()).toContain('the actions are token, ticket, menu create, menu update')
})
