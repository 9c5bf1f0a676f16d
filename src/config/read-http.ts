import { isIP } from 'node:net'
import { isLoopback } from '../core/loopback.ts'
import type { SettingSource } from './setting-source.ts'
import { show } from './values.ts'

/** Where `serve` answers, and who may ask. */
export interface HttpSettings {
  /** Undefined for `off`: no page, no probes, no metrics. */
  readonly listen: { readonly host: string; readonly port: number } | undefined
  /** Undefined on loopback alone. */
  readonly token: string | undefined
}

const LISTEN = 'LIVEHOUSE_HTTP'
const TOKEN = 'LIVEHOUSE_HTTP_TOKEN'
/** Characters: fewer can be guessed. */
const SHORTEST_TOKEN = 16
const EXPECTED = 'it should be an address and a port such as 127.0.0.1:8787 or [::1]:8787, or off'

/** `LIVEHOUSE_HTTP` and `LIVEHOUSE_HTTP_TOKEN`; without a token only this machine itself may reach the page. */
export function readHttpSettings(source: SettingSource): HttpSettings {
  const given = source.value(LISTEN) ?? '127.0.0.1:8787'
  const token = readToken(source)
  if (given === 'off') return { listen: undefined, token }
  const [, host = '', portText = ''] = /^(.+):(\d{1,5})$/.exec(given) ?? []
  const bare = host.replace(/^\[(.*)\]$/, '$1')
  const isHost = bare === 'localhost' || isIP(bare) === 4 || (isIP(bare) === 6 && bare !== host)
  const port = Number(portText)
  if (!isHost || port > 65_535) {
    source.refuse(`${LISTEN} is ${show(given)}; ${EXPECTED}`)
    return { listen: undefined, token }
  }
  if (!isLoopback(bare) && !source.isSet(TOKEN)) {
    source.refuse(
      `${TOKEN} is not set, but ${LISTEN} is ${show(given)}, which others can reach; it should be set to a long random ` +
        `text, or ${LISTEN} to an address of this machine alone, such as 127.0.0.1:8787`,
    )
  }
  return { listen: { host: bare, port }, token }
}

function readToken(source: SettingSource): string | undefined {
  const given = source.value(TOKEN)
  if (given === undefined) return given
  // What a header cannot carry could never be sent as one.
  const isSendable = /^[\x21-\x7e]+$/.test(given)
  if (isSendable && given.length >= SHORTEST_TOKEN) return given
  const reason = isSendable
    ? `has ${given.length} characters; it should have ${SHORTEST_TOKEN} or more, at random, such as openssl rand -hex 16 prints`
    : 'has a space, a line break or a letter beyond ASCII; it should have none of them'
  source.refuse(`${TOKEN} (not shown) ${reason}`)
  return undefined
}
