import { join } from 'node:path'
import { expect, test } from 'vitest'
import { dictionary } from '../../src/cli/dictionary.ts'
import { runVerb } from '../helpers/run-verb.ts'

test('docs/data-dictionary.md is up to date (else: npx vitest run test/cli/dictionary.test.ts -u)', async () => {
  const { code, printed } = await runVerb(dictionary, [], {})
  expect(code).toBe(0)
  const file = join(import.meta.dirname, '../../docs/data-dictionary.md')
  await expect(`${printed.join('\n')}\n`).toMatchFileSnapshot(file)
})

test('the dictionary is printed in Chinese with --lang or LIVEHOUSE_LANG, and --lang wins', async () => {
  const flag = await runVerb(dictionary, ['--lang', 'zh-CN'], {})
  const setting = await runVerb(dictionary, [], { environment: { LIVEHOUSE_LANG: 'zh-CN' } })
  const both = await runVerb(dictionary, ['--lang', 'en'], { environment: { LIVEHOUSE_LANG: 'zh-CN' } })
  const wrong = await runVerb(dictionary, ['--lang', 'zh-CN'], { environment: { LIVEHOUSE_LANG: 'klingon' } })
  expect(flag.printed.join('\n')).toContain('| `phone` | text | 手机号，服务端原样 | 4.7 phone |')
  expect(setting.printed).toEqual(flag.printed)
  expect(wrong.printed).toEqual(flag.printed)
  expect(both.printed.join('\n')).not.toMatch(/\p{Script=Han}/u)
})
