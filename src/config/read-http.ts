import { isIP } from 'node:net'
import { isLoopback } from '../core/loopback.ts'
import type { SettingSource } from './setting-source.ts'
import { quote, readValue } from './values.ts'

const LISTEN = 'LIVEHOUSE_HTTP'
const TOKEN = 'LIVEHOUSE_HTTP_TOKEN'

/**
 * `LIVEHOUSE_HTTP` and `LIVEHOUSE_HTTP_TOKEN`. Without a token, only a loopback address is allowed. `listen` is
 * undefined for `off`: no status page, health checks or metrics.
 */
export function readHttpSettings(source: SettingSource) {
  const expectedToken = '16 or more characters of ASCII without spaces, at random, such as openssl rand -hex 16 prints'
  // A shorter token could be guessed, and a header cannot carry other characters.
  const token = readValue(source, TOKEN, { fallback: undefined, expected: expectedToken, isSecret: true }, (given) =>
    /^[\x21-\x7e]{16,}$/.test(given) ? given : undefined,
  )
  if (source.value(LISTEN) === 'off') return { listen: undefined, token }
  const fallback = { host: '127.0.0.1', port: 8787 }
  const expected = 'an address and a port such as 127.0.0.1:8787 or [::1]:8787, or off'
  const listen = readValue(source, LISTEN, { fallback, expected }, readListen)
  if (!isLoopback(listen.host) && !source.isSet(TOKEN)) {
    source.refuse(
      `${TOKEN} is not set, but ${LISTEN} is ${quote(source.value(LISTEN) ?? '')}, which others can reach; it should ` +
        `be set to a long random text, or ${LISTEN} to an address of this machine alone, such as 127.0.0.1:8787`,
    )
  }
  return { listen, token }
}

function readListen(given: string) {
  const [, host = '', port = ''] = /^(.+):(\d{1,5})$/.exec(given) ?? []
  const bare = host.replace(/^\[(.*)\]$/, '$1')
  const isHost = bare === 'localhost' || isIP(bare) === 4 || (isIP(bare) === 6 && bare !== host)
  return isHost && Number(port) <= 65_535 ? { host: bare, port: Number(port) } : undefined
}
