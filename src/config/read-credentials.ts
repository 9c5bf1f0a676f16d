import type { DatabaseTarget, ServiceSettings } from '../app/settings.ts'
import { parsePostgresUrl } from '../core/text.ts'
import type { SettingSource } from './setting-source.ts'
import { isSafeAddress, quote, readValue } from './values.ts'

const AUTH_URL = 'LIVEHOUSE_AUTH_URL'
const APP_ID = 'LIVEHOUSE_APP_ID'
const APP_SECRET = 'LIVEHOUSE_APP_SECRET'
const API_TOKEN = 'LIVEHOUSE_API_TOKEN'

/** Client credentials and the URL for tokens (API 4.1), a fixed bearer token, or both; refuses incomplete ones. */
export function readCredentials(
  source: SettingSource,
): Pick<ServiceSettings, 'authUrl' | 'appId' | 'appSecret' | 'apiToken'> {
  const [hasId, hasSecret] = [source.isSet(APP_ID), source.isSet(APP_SECRET)]
  if (hasId !== hasSecret) {
    const [given, missing] = hasId ? [APP_ID, APP_SECRET] : [APP_SECRET, APP_ID]
    source.refuse(`${missing} is not set, but ${given} is; it should be set too: they belong together`)
  }
  if (hasId && !source.isSet(AUTH_URL))
    source.refuse(`${AUTH_URL} is not set, but ${APP_ID} is; it should be the URL that issues tokens`)
  if (!hasId && !hasSecret && !source.isSet(API_TOKEN))
    source.refuse(`${API_TOKEN} is not set, nor is ${APP_ID}; it should be a token, or ${APP_ID} with ${APP_SECRET}`)
  const expected = 'the bare token, without a space, a line break or a letter beyond ASCII'
  return {
    authUrl: readServiceUrl(source, AUTH_URL) ?? null,
    appId: source.value(APP_ID) ?? null,
    appSecret: source.value(APP_SECRET) ?? null,
    // A header cannot carry other characters; RFC 6750 allows even fewer.
    apiToken: readValue(source, API_TOKEN, { fallback: null, expected, isSecret: true }, (given) =>
      /^[\x21-\x7e]+$/.test(given) ? given : undefined,
    ),
  }
}

/** An http(s) URL of the service without query or fragment; returned as written, without trailing slashes. */
export function readServiceUrl(source: SettingSource, name: string): string | undefined {
  const given = source.value(name)
  if (given === undefined) return undefined
  const url = URL.parse(given)
  const isBare = /^https?:$/.test(url?.protocol ?? '') && !/[?#]/.test(given) && !/^[^/]*\/\/[^/]*@/.test(given)
  if (url !== null && isBare && isSafeAddress(source, url)) return given.replace(/\/+$/, '')
  const shown = /[@?#]/.test(given) ? '(not shown)' : `is ${quote(given)}, which`
  source.refuse(
    isBare
      ? `${name} ${shown} is plain http to another host; it should be https (LIVEHOUSE_ALLOW_HTTP=1 allows plain http)`
      : `${name} ${shown} is not a bare http or https URL; it should be one such as https://api.example.com, ` +
          'without a user name, a password, ? and #',
  )
  return undefined
}

/** A proxy URL; the lower-case variable wins. Never shown, as it may contain credentials. */
export function readProxyUrl(source: SettingSource, name: string): string | null {
  const used = source.value(name.toLowerCase()) === undefined ? name : name.toLowerCase()
  const expected = 'an http or https URL such as http://proxy.example.com:3128'
  return readValue(source, used, { fallback: null, expected, isSecret: true }, (given) =>
    /^https?:$/.test(URL.parse(given)?.protocol ?? '') ? given : undefined,
  )
}

const ESCAPED = 'with %40 for an @ of a user or password, %23 for a #, %25 for a %, %2F for a / and %3F for a ?'
/** The end of messages about a wrong Postgres URL. */
export const POSTGRES_URL = `a Postgres URL such as postgres://USER@HOST:5432/NAME, ${ESCAPED}`
const EMBEDDED = `${POSTGRES_URL}, or the word embedded for the PostgreSQL that livehouse keeps itself`

/** `DATABASE_URL`; never shown, as it may contain a password. */
export function readTarget(source: SettingSource): DatabaseTarget {
  if (source.value('DATABASE_URL') === 'embedded') return { kind: 'embedded' }
  if (!source.isSet('DATABASE_URL')) source.refuse(`DATABASE_URL is not set; it should be ${EMBEDDED}`)
  const url = readPostgresUrl(source, 'DATABASE_URL', EMBEDDED)
  return url === undefined ? { kind: 'embedded' } : { kind: 'url', url }
}

/** `LIVEHOUSE_QUEUE_URL`; undefined if the queue is in the warehouse. */
export function readQueueUrl(source: SettingSource): string | undefined {
  return readPostgresUrl(source, 'LIVEHOUSE_QUEUE_URL', `${POSTGRES_URL}, or left out for that of the warehouse`)
}

function readPostgresUrl(source: SettingSource, name: string, expected: string): string | undefined {
  return readValue(source, name, { fallback: undefined, expected, isSecret: true }, parsePostgresUrl)
}
