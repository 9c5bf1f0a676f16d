import { expect, test } from 'vitest'
import { messagesOf, chooseLanguage, type LanguageWishes } from '../../src/web/messages.ts'

/** Every word by its path. */
function wordsOf(value: unknown, path = ''): [string, string][] {
  if (typeof value === 'string') return [[path, value]]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, each]) => wordsOf(each, `${path}.${name}`))
}

function ofLanguage(language: 'en' | 'zh-CN'): ReadonlyMap<string, string> {
  const { formats: _, language: __, ...words } = messagesOf(language)
  return new Map(wordsOf(words))
}

/** The same in every language, or names. */
const same = new Set([
  '.title',
  '.notKnown',
  '.languageName',
  '.figures.budgetLeft',
  '.notes.progress',
  '.notes.asked',
  '.separator',
  '.timeline.marked',
])
const han = /\p{Script=Han}/u

/** What stands for values in a sentence. */
const placesIn = (text: string) => (text.match(/\{\w+\}/g) ?? []).toSorted()

test('every word is there in both languages, in its own script, with the same values', () => {
  const [en, zh] = [ofLanguage('en'), ofLanguage('zh-CN')]
  expect([...zh.keys()]).toEqual([...en.keys()])
  expect(en.size).toBeGreaterThan(150)
  for (const [path, text] of en) {
    expect(placesIn(zh.get(path) ?? ''), path).toEqual(placesIn(text))
    if (same.has(path)) continue
    expect(text.trim(), path).not.toBe('')
    expect(text, path).not.toMatch(han)
    expect(zh.get(path), path).toMatch(han)
  }
})

const nobody: LanguageWishes = { asked: null, remembered: undefined, configured: undefined, accepted: undefined }

test.each<[Partial<LanguageWishes>, string]>([
  [{}, 'en'],
  [{ accepted: 'zh-CN,zh;q=0.9,en;q=0.8' }, 'zh-CN'],
  [{ accepted: 'zh-TW' }, 'zh-CN'],
  [{ accepted: 'fr-FR, en;q=0.5, zh;q=0.7' }, 'zh-CN'],
  [{ accepted: 'en-GB,zh;q=0.9' }, 'en'],
  [{ accepted: 'zh;q=0, fr' }, 'en'],
  [{ accepted: ';;;q=,' }, 'en'],
  [{ configured: 'zh-CN', accepted: 'en' }, 'zh-CN'],
  [{ remembered: 'en', configured: 'zh-CN' }, 'en'],
  [{ asked: 'zh-CN', remembered: 'en' }, 'zh-CN'],
  [{ asked: 'zh' }, 'zh-CN'],
  [{ asked: 'klingon', remembered: 'zh-CN' }, 'zh-CN'],
])('%j is answered in %s', (wishes, language) => {
  expect(chooseLanguage({ ...nobody, ...wishes })).toBe(language)
})
