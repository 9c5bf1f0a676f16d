import { readServiceUrl } from './read-url.ts'
import type { SettingSource } from './setting-source.ts'

const AUTH_URL = 'LIVEHOUSE_AUTH_URL'
const APP_ID = 'LIVEHOUSE_APP_ID'
const APP_SECRET = 'LIVEHOUSE_APP_SECRET'
const API_TOKEN = 'LIVEHOUSE_API_TOKEN'

/** Ways to authenticate: client credentials with their address (API 4.1), a fixed bearer token, or both. */
export interface Credentials {
  readonly authUrl: string | null
  readonly appId: string | null
  readonly appSecret: string | null
  readonly apiToken: string | null
}

/** Reads the credentials; at least one way must be complete. */
export function readCredentials(source: SettingSource): Credentials {
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
