import { expect, test } from 'vitest'
import { recoveryOf } from '../../../src/core/errors.ts'
import { conflictItem, duplicateItem } from '../../../src/ledger/quarantine/quarantine.ts'
import { streams } from '../../../src/streams/registry.ts'
import { itemReader } from '../../../src/transform/read-item.ts'
import { maskValues } from '../../../src/web/html.ts'
import { causeInChinese, reasonInChinese } from '../../../src/web/words/reasons.ts'

const reasons = streams.flatMap((stream) => {
  const partition = { channel: '9', question: 'a', type: 'cash' }
  const read = itemReader(stream, { partition, serviceDay: '2026-11-20' })
  const lists = [['张三'], Array.from({ length: 9 }, () => null)]
  const items = ['张三', null, {}, { id: '10' }, { user_id: { nick: '张三' } }, ...lists]
  const titles = [['用户', '昵称', '电话', '问题', '时间'], Array.from({ length: 9 }, () => '')]
  const results = titles.flatMap((title) => items.map((item) => read(item, { title })))
  return results.flatMap((each) => (each.kind === 'rejected' ? each.reason : []))
})
const { reason: duplicate } = duplicateItem('{}', 'user_id', 2)
const { reason: conflict } = conflictItem('{}', 'record_id', ['user_id', 'entered_at'])
const others = [duplicate, conflict, 'given_at lies far outside of the requested range']

test.each([...new Set([...reasons, ...others])])('has words in Chinese: %s', (reason) => {
  const chinese = reasonInChinese(maskValues(reason)) ?? ''
  expect(chinese).toMatch(/\p{Script=Han}/u)
  expect(chinese).not.toMatch(/张三| (and|the|not|is|with|came) /)
})

test('each error code, and each message that is recorded without one, has words in Chinese', () => {
  expect([...Object.keys(recoveryOf), 'internal'].filter((code) => causeInChinese(code) === undefined)).toEqual([])
  const messages = {
    '502 after 5 attempts': '服务返回错误',
    '403 (an HTML page of 9 characters instead of JSON) after 5 attempts': '服务返回错误',
    '403 (code 403001)': '凭据未被接受，或没有权限',
    '429; the service asks to wait 3 s': '服务限制了调用次数',
    'no complete answer within 30 s': '服务没有按时回答',
    '200 with an empty body': '服务的回答无法读取',
    'the source says 10, but 9 distinct and 0 quarantined rows came, 1 came twice': '读到的行数不足',
  }
  const words = Object.keys(messages).map((each) => [each, causeInChinese('', `giftRunning channel 9 page 3: ${each}`)])
  expect(Object.fromEntries(words)).toEqual(messages)
  // The code decides: a number in the message may count rows.
  const missing = 'gifts channel=9: 429 rows of the source are missing'
  expect(causeInChinese('audit.difference', missing)).toBe(causeInChinese('audit.difference'))
})
