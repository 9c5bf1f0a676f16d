import type { AlertSettings } from '../app/settings.ts'
import { readChoice, readFlag, readLanguage, show } from './values.ts'
import { isLoopback } from '../core/loopback.ts'
import type { SettingSource } from './setting-source.ts'

const WEBHOOK = 'LIVEHOUSE_ALERT_WEBHOOK'
const SECRET = 'LIVEHOUSE_ALERT_SECRET'

/** `LIVEHOUSE_ALERT_…` and `LIVEHOUSE_HEARTBEAT_URL`. */
export function readAlertSettings(source: SettingSource): AlertSettings {
  const format = readChoice(source, 'LIVEHOUSE_ALERT_FORMAT', ['json', 'dingtalk', 'wecom', 'feishu', 'slack'])
  const secret = source.value(SECRET) ?? null
  const keyword = source.value('LIVEHOUSE_ALERT_KEYWORD') ?? null
  if (!source.isSet(WEBHOOK)) {
    for (const name of ['LIVEHOUSE_ALERT_FORMAT', SECRET, 'LIVEHOUSE_ALERT_KEYWORD']) {
      if (source.isSet(name)) source.refuse(`${name} is set, but ${WEBHOOK} is not; it should be the address to tell`)
    }
  }
  if (secret !== null && (format === 'wecom' || format === 'slack')) {
    source.refuse(`${SECRET} is set, but ${format} has no signature; it should not be set`)
  }
  if (keyword !== null && keyword.length > 50) {
    source.refuse(`LIVEHOUSE_ALERT_KEYWORD is ${show(keyword)}; it should be a word of at most 50 characters`)
  }
  return {
    webhook: readSecretUrl(source, WEBHOOK),
    format,
    secret,
    keyword,
    language: readLanguage(source) ?? 'en',
    heartbeatUrl: readSecretUrl(source, 'LIVEHOUSE_HEARTBEAT_URL'),
  }
}

/** An address with a key in it, as robots have them. */
function readSecretUrl(source: SettingSource, name: string): string | null {
  const given = source.value(name)
  if (given === undefined) return null
  const url = URL.parse(given)
  const isHttp = url?.protocol === 'http:'
  if (
    url?.protocol === 'https:' ||
    (isHttp && (isLoopback(url.hostname) || readFlag(source, 'LIVEHOUSE_ALLOW_HTTP', '0')))
  ) {
    return given
  }
  const what = isHttp ? 'is plain http to another host' : 'is not an https URL'
  source.refuse(`${name} (not shown) ${what}; it should be an https URL (LIVEHOUSE_ALLOW_HTTP=1 allows plain http)`)
  return null
}
