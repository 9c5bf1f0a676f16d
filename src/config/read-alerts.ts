import type { AlertSettings } from '../app/settings.ts'
import type { SettingSource } from './setting-source.ts'
import { isSafeAddress, readChoice, readLanguage, readValue } from './values.ts'

const WEBHOOK = 'LIVEHOUSE_ALERT_WEBHOOK'
const FORMAT = 'LIVEHOUSE_ALERT_FORMAT'
const SECRET = 'LIVEHOUSE_ALERT_SECRET'
const KEYWORD = 'LIVEHOUSE_ALERT_KEYWORD'

/** Reads `LIVEHOUSE_ALERT_…` and `LIVEHOUSE_HEARTBEAT_URL`. */
export function readAlertSettings(source: SettingSource): AlertSettings {
  const format = readChoice(source, FORMAT, ['json', 'dingtalk', 'wecom', 'feishu', 'slack'])
  const secret = source.value(SECRET) ?? null
  for (const name of source.isSet(WEBHOOK) ? [] : [FORMAT, SECRET, KEYWORD]) {
    if (source.isSet(name)) source.refuse(`${name} is set, but ${WEBHOOK} is not; it should be the URL for alerts`)
  }
  if (secret !== null && (format === 'wecom' || format === 'slack'))
    source.refuse(`${SECRET} is set, but ${format} has no signature; it should not be set`)
  const keyword = { fallback: null, expected: 'a word of at most 50 characters' }
  return {
    webhook: readSecretUrl(source, WEBHOOK),
    format,
    secret,
    keyword: readValue(source, KEYWORD, keyword, (given) => (given.length > 50 ? undefined : given)),
    language: readLanguage(source) ?? 'en',
    heartbeatUrl: readSecretUrl(source, 'LIVEHOUSE_HEARTBEAT_URL'),
  }
}

/** A URL that may contain a key, as those of chat robots do. */
function readSecretUrl(source: SettingSource, name: string): string | null {
  const expected = 'an https URL (LIVEHOUSE_ALLOW_HTTP=1 allows plain http)'
  return readValue(source, name, { fallback: null, expected, isSecret: true }, (given) => {
    const url = URL.parse(given)
    return url !== null && isSafeAddress(source, url) ? given : undefined
  })
}
