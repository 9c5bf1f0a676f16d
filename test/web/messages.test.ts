import { expect, test } from 'vitest'
import { messagesOf, chooseLanguage, type LanguageWishes } from '../../src/web/messages.ts'
import { formatsOf } from '../../src/web/formats.ts'

/** Stands for any value of a sentence, and for the formats. */
const anything = Object.assign(Object('¤'), formatsOf('en'))

/** Every word by its path; sentences with marks in place of their values. */
function wordsOf(value: unknown, path = ''): [string, string][] {
  if (typeof value === 'string') return [[path, value]]
  // These two have sentences for each case, below.
  if (path === '.verdict.finding' || path === '.channel.open') return []
  if (typeof value === 'function') return [[path, String(value(anything, anything, anything))]]
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
  '.timeline.marked',
  '.timeline.separators.days',
  '.timeline.separators.states',
])
const han = /\p{Script=Han}/u

test('every word is there in both languages, and in its own script', () => {
  const [en, zh] = [ofLanguage('en'), ofLanguage('zh-CN')]
  expect([...zh.keys()]).toEqual([...en.keys()])
  expect(en.size).toBeGreaterThan(150)
  for (const [path, text] of en) {
    if (same.has(path)) continue
    expect(text.trim(), path).not.toBe('')
    expect(text, path).not.toMatch(han)
    expect(zh.get(path), path).toMatch(han)
  }
})

test('what is open of a channel is said in both languages', () => {
  const counts = { problems: 2, gaps: 1, late: 3 }
  const said = (language: 'en' | 'zh-CN') => messagesOf(language).channel.open(counts, formatsOf(language))
  expect(said('en')).toEqual(['2 short or failed', '1 gap', '3 streams late'])
  expect(said('zh-CN')).toEqual(['2 处缺数据或失败', '1 处空缺', '3 类数据过期'])
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
