import { expect, test } from 'vitest'
import { chooseLanguage, messagesOf } from '../../src/web/messages.ts'

function textsOf(value: unknown, path = ''): [string, string][] {
  if (typeof value === 'string') return [[path, value]]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, each]) => textsOf(each, `${path}.${name}`))
}

function ofLanguage(language: 'en' | 'zh'): ReadonlyMap<string, string> {
  const { formats: _, language: __, languageTag: ___, ...texts } = messagesOf(language)
  return new Map(textsOf(texts))
}

/** Texts that are the same in every language, or names. */
const same = new Set(['.title', '.notKnown', '.languageName', '.figures.budgetLeft', '.separator'])
const han = /\p{Script=Han}/u

const placeholdersIn = (text: string) => (text.match(/\{\w+\}/g) ?? []).toSorted()

test('every text exists in both languages, in its own script, with the same placeholders', () => {
  const [en, zh] = [ofLanguage('en'), ofLanguage('zh')]
  expect([...zh.keys()]).toEqual([...en.keys()])
  expect(en.size).toBeGreaterThan(150)
  for (const [path, text] of en) {
    expect(placeholdersIn(zh.get(path) ?? ''), path).toEqual(placeholdersIn(text))
    if (same.has(path)) continue
    expect(text.trim(), path).not.toBe('')
    expect(text, path).not.toMatch(han)
    expect(zh.get(path), path).toMatch(han)
  }
})

test.each([
  [[null, undefined, undefined, 'zh-CN,zh;q=0.9,en;q=0.8'], 'zh'],
  [[null, undefined, undefined, 'fr-FR, zh-TW;q=0.7, en;q=0.5'], 'zh'],
  [[null, undefined, undefined, ';;;q=,'], 'en'],
  [[null, 'en', 'zh-CN', undefined], 'en'],
  [['zh', 'en', undefined, undefined], 'zh'],
  [['klingon', 'zh-CN', undefined, undefined], 'zh'],
])('the preferences %j choose %s', (preferences, language) => {
  expect(chooseLanguage(...preferences)).toBe(language)
})
