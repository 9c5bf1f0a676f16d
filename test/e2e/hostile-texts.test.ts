import { expect, test } from 'vitest'
import { commands } from '../../src/cli/commands.ts'
import { runCommandLine } from '../../src/cli/run-command-line.ts'
import { systemClock } from '../../src/core/clock.ts'
import { startAccount } from '../helpers/start-account.ts'
import { startScriptedService } from '../helpers/scripted-service.ts'

// oxlint-disable-next-line no-control-regex
const ESCAPES = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e]/

/** All that the whole command line writes, to either stream. */
async function written(argv: readonly string[], environment: Readonly<Record<string, string>>): Promise<string> {
  let text = ''
  const write = (part: string) => void (text += part)
  await runCommandLine({
    argv,
    version: '1.2.3',
    commands,
    environment: { ...environment, LOG_LEVEL: 'debug' },
    clock: systemClock,
    signal: new AbortController().signal,
    emergency: new Promise<never>(() => {}),
    writeOut: write,
    writeError: write,
    isTerminal: false,
  })
  return text
}

test('what a service sends moves no cursor and shows no phone number, in whatever is printed or logged', async () => {
  const evil = '\u001b]0;x\u0007\u009b2J\u202e 13800138000'
  await using service = await startScriptedService(({ path }) => {
    if (!path.endsWith('getQuestionList')) return { status: 500, json: { errors: { code: 500001, message: evil } } }
    const items = [evil, 'q1'].map((id) => ({ question_id: id, name: evil, status: evil, [evil]: 1 }))
    return { json: { errcode: 1000, msg: evil, page_index: 1, size: 100, total: 2, question_list: items } }
  })
  await using account = await startAccount({ viewers: 1 })
  const environment = {
    LIVEHOUSE_BASE_URL: service.url,
    LIVEHOUSE_API_TOKEN: 'a',
    LIVEHOUSE_CHANNELS: account.emulator.channelIds[0] ?? '',
    LIVEHOUSE_MAX_CALLS_PER_SECOND: '0',
    DATABASE_URL: account.database.url,
  }
  const first = await written(['sync', '--streams', 'questionnaires,managers', '--json'], environment)
  expect(first).toContain('500')
  const later = await Promise.all(
    [['status'], ['ledger', 'show'], ['quarantine']].map(async (argv) => await written(argv, environment)),
  )
  for (const text of [first, ...later]) {
    expect(text).not.toMatch(ESCAPES)
    expect(text).not.toContain('13800138000')
  }
})
