import { expect, test } from 'vitest'
import { safeName, uniqueName } from '../../src/bi/safe-names.ts'

test.each([
  ['您的姓名？', '您的姓名'],
  ['  Your Name * ', 'your_name'],
  ['<b>姓名</b>&nbsp;<script>alert(1)</script>', '姓名_alert_1'],
  [`'; drop schema livehouse cascade; --`, 'drop_schema_livehouse_cascade'],
  ['"a"."b"', 'a_b'],
  ['1. 手机号', 'q_1_手机号'],
  ['ＡＢＣ（１）', 'abc_1'],
  ['Select', 'select_'],
  ['user', 'user_'],
  ['ctid', 'ctid_'],
  ['', 'fallback'],
  ['？？', 'fallback'],
  ['𠮷'.repeat(20), '𠮷'.repeat(15)],
  ['问'.repeat(200), '问'.repeat(21)],
  ['a'.repeat(62) + '问', 'a'.repeat(62)],
])('%j becomes %s', (text, name) => {
  expect(safeName(text, 'fallback')).toBe(name)
})

test('a name that is taken gets a number, and stays within 63 bytes', () => {
  const long = '问'.repeat(21)
  expect(uniqueName('name', new Set(['name', 'name_2']))).toBe('name_3')
  expect(uniqueName(long, new Set([long]))).toBe(`${'问'.repeat(20)}_2`)
})
