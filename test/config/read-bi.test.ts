import { expect, test } from 'vitest'
import { readBi } from '../../src/config/read-bi.ts'
import { createSettingSource } from '../../src/config/setting-source.ts'

test.each([
  [{}, undefined],
  [
    { LIVEHOUSE_CURRENCY: 'CNY', LIVEHOUSE_MASK: 'none' },
    { currency: 'CNY', masked: [] },
  ],
  [{ LIVEHOUSE_MASK: ' outer_id, phone' }, { masked: ['phone', 'outer_id'] }],
  [
    { LIVEHOUSE_IGNORED_IDS: 'N / A, 0\u200b, ＋86 138-1111-0000\u2069', LIVEHOUSE_BROADCAST_GAP: '5' },
    { ignoredIds: ['n/a', '0', '＋86138-1111-0000', '13811110000'], broadcastGapMinutes: 5 },
  ],
])('%j is read', (values, expected) => {
  const source = createSettingSource(values)
  expect(readBi(source)).toEqual(expected)
  expect(source.problems()).toEqual([])
})

test('each wrong value is reported with what it should be', () => {
  const source = createSettingSource({
    LIVEHOUSE_CURRENCY: 'yuan',
    LIVEHOUSE_MASK: 'phone,mail,',
    LIVEHOUSE_BROADCAST_MIN: '0',
  })
  readBi(source)
  expect(source.problems()).toEqual([
    expect.stringMatching(/^LIVEHOUSE_CURRENCY is "yuan"; it should be .* such as CNY$/),
    expect.stringMatching(/^LIVEHOUSE_MASK names "mail"; it should be none, or a list of phone, ip, .*, outer_id/),
    expect.stringMatching(/^LIVEHOUSE_MASK names ""; /),
    expect.stringMatching(/^LIVEHOUSE_BROADCAST_MIN is "0"; it should be a whole number of minutes from 1 to 9999$/),
  ])
})
