import type { BiSettings } from '../bi/bi-settings.ts'
import { maskableKinds, type PersonalData } from '../bi/view.ts'
import type { SettingSource } from './setting-source.ts'
import { quote, readLanguage, readNumber, readValue } from './values.ts'

const currencyCode = 'three capital letters (ISO 4217), such as CNY'

/** Settings of the analysts' views; undefined if none is set. */
export function readBi(source: SettingSource): BiSettings | undefined {
  const settings = {
    currency: readValue(source, 'LIVEHOUSE_CURRENCY', { fallback: undefined, expected: currencyCode }, (given) =>
      /^[A-Z]{3}$/.test(given) ? given : undefined,
    ),
    masked: readMask(source),
    language: readLanguage(source),
    ignoredIds: readIgnoredIds(source),
    broadcastGapMinutes: readMinutes(source, 'LIVEHOUSE_BROADCAST_GAP'),
    broadcastMinMinutes: readMinutes(source, 'LIVEHOUSE_BROADCAST_MIN'),
  }
  return Object.values(settings).some((value) => value !== undefined) ? settings : undefined
}

function readMask(source: SettingSource): readonly PersonalData[] | undefined {
  const given = source.value('LIVEHOUSE_MASK')
  if (given === undefined) return undefined
  if (given === 'none') return []
  const names = given.split(',').map((name) => name.trim())
  const masked = maskableKinds.filter((kind) => names.includes(kind))
  for (const name of names.filter((name) => !maskableKinds.some((kind) => kind === name))) {
    source.refuse(`LIVEHOUSE_MASK names ${quote(name)}; it should be none, or a list of ${maskableKinds.join(', ')}`)
  }
  return masked
}

const BLANKS = /[\s\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u206f]/g
const PHONE = /^[+＋\d()-]{7,}$/

/** Ids in lower case, without blanks and invisible characters; and the last eleven digits of each phone number. */
function readIgnoredIds(source: SettingSource): readonly string[] | undefined {
  const given = source.value('LIVEHOUSE_IGNORED_IDS')
  if (given === undefined) return undefined
  const ids = given.split(',').map((id) => id.replaceAll(BLANKS, '').toLowerCase())
  const phones = ids.filter((id) => PHONE.test(id)).map((phone) => phone.replaceAll(/\D/g, '').slice(-11))
  return [...new Set([...ids, ...phones])]
}

function readMinutes(source: SettingSource, name: string): number | undefined {
  return readNumber(source, name, undefined, { min: 1, max: 9999, isInteger: true, unit: 'minutes' })
}
