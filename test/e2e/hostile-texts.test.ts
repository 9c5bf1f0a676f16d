import { expect, test } from 'vitest'
import { startAccount } from '../helpers/start-account.ts'
import { startScriptedService } from '../helpers/scripted-service.ts'
import { livehouse } from '../helpers/command-line.ts'

// oxlint-disable-next-line no-control-regex
const ESCAPES = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e]/

test('what a service sends moves no cursor and shows no phone number, in whatever is printed or logged', async () => {
  const evil = '\u001b]0;x\u0007\u009b2J\u202e 13800138000'
  await using service = await startScriptedService(({ path }) => {
    if (!path.endsWith('getQuestionList')) return { status: 500, json: { errors: { code: 500001, message: evil } } }
    const items = [evil, 'q1'].map((id) => ({ question_id: id, name: evil, status: evil, [evil]: 1 }))
    return { json: { errcode: 1000, msg: evil, page_index: 1, size: 100, total: 2, question_list: items } }
  })
  await using account = await startAccount({ channels: 1, viewers: 1 })
  const environment = { ...account.environment, LIVEHOUSE_BASE_URL: service.url, LOG_LEVEL: 'debug' }
  const sync = ['sync', '--streams', 'questionnaires,managers', '--json']
  const texts = await Array.fromAsync([sync, ['status'], ['ledger', 'show'], ['quarantine']], async (argv) => {
    const { out, err } = await livehouse(argv, environment)
    return out + err
  })
  expect(texts[0]).toContain('500')
  for (const text of texts) {
    expect(text).not.toMatch(ESCAPES)
    expect(text).not.toContain('13800138000')
  }
})
