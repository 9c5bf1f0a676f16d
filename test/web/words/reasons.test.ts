import { expect, test } from 'vitest'
import { conflictItem, duplicateItem } from '../../../src/ledger/quarantine.ts'
import { streams } from '../../../src/streams/registry.ts'
import { itemReader } from '../../../src/transform/read-item.ts'
import { maskValues } from '../../../src/web/html.ts'
import { reasonInChinese } from '../../../src/web/words/reasons.ts'

const reasons = streams.flatMap((stream) => {
  const read = itemReader(stream, {
    partition: { channel: '9', question: 'a', type: 'cash' },
    serviceDay: '2026-11-20',
  })
  const items = [
    '张三',
    null,
    {},
    { id: '10' },
    { user_id: { nick: '张三' } },
    ['张三'],
    Array.from({ length: 9 }, () => null),
  ]
  const titles = [['用户', '昵称', '电话', '问题', '时间'], Array.from({ length: 9 }, () => '')]
  const found = titles.flatMap((title) => items.map((item) => read(item, { title })))
  return found.flatMap((each) => (each.kind === 'rejected' ? each.reason : []))
})
const others = [duplicateItem('{}', 'user_id', 2), conflictItem('{}', 'record_id', ['user_id', 'entered_at'])]

test.each([...new Set([...reasons, ...others.map(({ reason }) => reason)])])('%s', (reason) => {
  const chinese = reasonInChinese(maskValues(reason)) ?? ''
  expect(chinese).toMatch(/\p{Script=Han}/u)
  expect(chinese).not.toMatch(/张三| (and|the|not|is|with|came) /)
})
