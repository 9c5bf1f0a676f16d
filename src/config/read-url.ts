import { isLoopback } from '../core/loopback.ts'
import type { SettingSource } from './setting-source.ts'
import { readFlag, show } from './values.ts'

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
