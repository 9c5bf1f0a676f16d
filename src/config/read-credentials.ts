import type { DatabaseTarget, ServiceSettings } from '../app/settings.ts'
import { isLoopback } from '../core/loopback.ts'
import type { SettingSource } from './setting-source.ts'
import { readFlag, show } from './values.ts'

const AUTH_URL = 'LIVEHOUSE_AUTH_URL'
const APP_ID = 'LIVEHOUSE_APP_ID'
const APP_SECRET = 'LIVEHOUSE_APP_SECRET'
const API_TOKEN = 'LIVEHOUSE_API_TOKEN'

/** Client credentials with their address (API 4.1), a fixed bearer token, or both; at least one way must be complete. */
export function readCredentials(
  source: SettingSource,
): Pick<ServiceSettings, 'authUrl' | 'appId' | 'appSecret' | 'apiToken'> {
  const [hasId, hasSecret] = [source.isSet(APP_ID), source.isSet(APP_SECRET)]
  if (hasId !== hasSecret) {
    const [given, missing] = hasId ? [APP_ID, APP_SECRET] : [APP_SECRET, APP_ID]
    source.refuse(`${missing} is not set, but ${given} is; it should be set too, they belong together`)
  }
  if (hasId && !source.isSet(AUTH_URL)) {
    source.refuse(`${AUTH_URL} is not set, but ${APP_ID} is; it should be the address that hands out tokens`)
  }
  if (!hasId && !hasSecret && !source.isSet(API_TOKEN)) {
    source.refuse(`${API_TOKEN} is not set, nor is ${APP_ID}; it should be a token, or ${APP_ID} with ${APP_SECRET}`)
  }
  return {
    authUrl: readServiceUrl(source, AUTH_URL) ?? null,
    appId: source.value(APP_ID) ?? null,
    appSecret: source.value(APP_SECRET) ?? null,
    apiToken: readToken(source),
  }
}

function readToken(source: SettingSource): string | null {
  const given = source.value(API_TOKEN)
  if (given === undefined) return null
  // A header cannot carry anything else; RFC 6750 allows even less.
  if (/^[\x21-\x7e]+$/.test(given)) return given
  source.refuse(
    `${API_TOKEN} (not shown) has a space, a line break or a letter beyond ASCII; it should be the bare token`,
  )
  return null
}

/** An address of the service: http(s), nothing after its path; as written, without trailing slashes. */
export function readServiceUrl(source: SettingSource, name: string): string | undefined {
  const given = source.value(name)
  if (given === undefined) return undefined
  const url = URL.parse(given)
  const problem = url === null ? notAUrl(given) : problemOf(source, url)
  if (problem === undefined) return given.replace(/\/+$/, '')
  source.refuse(`${name} ${problem}`)
  return undefined
}

/** `PROXY` settings as everywhere: the lower-case name wins. May carry credentials, so it is never shown. */
export function readProxyUrl(source: SettingSource, name: string): string | null {
  const lower = name.toLowerCase()
  const [used, given] = [lower, name].map((each) => [each, source.value(each)] as const).find(([, text]) => text) ?? []
  if (given === undefined) return null
  const protocol = URL.parse(given)?.protocol
  if (protocol === 'http:' || protocol === 'https:') return given
  source.refuse(
    `${used} (not shown) is not an http or https URL; it should be one such as http://proxy.example.com:3128`,
  )
  return null
}

function problemOf(source: SettingSource, url: URL): string | undefined {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return notAUrl(url.href)
  if (url.username !== '' || url.password !== '') {
    return `(not shown) has a user name or password in it; it should be the address alone, such as ${url.protocol}//${url.host}`
  }
  if (url.href.includes('?') || url.href.includes('#')) {
    return `(not shown) goes on with ? or # after its path; it should end before, such as ${url.origin}${url.pathname}`
  }
  if (url.protocol === 'https:' || isLoopback(url.hostname) || readFlag(source, 'LIVEHOUSE_ALLOW_HTTP', '0'))
    return undefined
  return `is ${show(url.href)}, plain http to another host; it should be an https URL (LIVEHOUSE_ALLOW_HTTP=1 allows plain http)`
}

function notAUrl(given: string): string {
  const shown = given.includes('@') || given.includes('?') ? '(not shown)' : `is ${show(given)}, which`
  return `${shown} is not an http or https URL; it should be one such as https://api.example.com`
}

const POSTGRES_URL = 'it should be a Postgres URL such as postgres://USER@HOST:5432/NAME'
const EMBEDDED = 'or the word embedded for the PostgreSQL that livehouse keeps itself'

/** `DATABASE_URL`: it may carry a password, so it is never shown. */
export function readTarget(source: SettingSource): DatabaseTarget {
  if (!source.isSet('DATABASE_URL')) source.refuse(`DATABASE_URL is not set; ${POSTGRES_URL}, ${EMBEDDED}`)
  const isEmbedded = source.value('DATABASE_URL') === 'embedded'
  const url = isEmbedded ? undefined : readPostgresUrl(source, 'DATABASE_URL', `${POSTGRES_URL}, ${EMBEDDED}`)
  return url === undefined ? { kind: 'embedded' } : { kind: 'url', url }
}

/** `LIVEHOUSE_QUEUE_URL`; undefined for the warehouse's own. */
export function readQueueUrl(source: SettingSource): string | undefined {
  return readPostgresUrl(source, 'LIVEHOUSE_QUEUE_URL', `${POSTGRES_URL}, or left out for that of the warehouse`)
}

function readPostgresUrl(source: SettingSource, name: string, expected: string): string | undefined {
  const given = source.value(name)
  if (given === undefined) return undefined
  const protocol = URL.parse(given)?.protocol
  if (protocol === 'postgres:' || protocol === 'postgresql:') return given
  const what = protocol === undefined ? 'is not a URL' : `begins with ${protocol}`
  source.refuse(`${name} (not shown) ${what}; ${expected}`)
  return undefined
}
