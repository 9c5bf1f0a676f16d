import { expect, test } from 'vitest'
import { chooseLanguage, type LanguageWishes } from '../../../src/web/messages/choose-language.ts'

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
