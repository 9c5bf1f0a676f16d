import { createHmac } from 'node:crypto'
import { keyOfCause, type Notice } from '../../core/cause.ts'
import type { WebhookRequest } from '../../service/webhook.ts'
import type { AlertSettings } from '../settings.ts'
import { describeNotice } from './describe-cause.ts'

export type AlertStyle = Pick<AlertSettings, 'format' | 'language' | 'secret' | 'keyword'>

/** One POST of JSON. */
type AlertRequest = Required<WebhookRequest>

/** As many lines as robots take in one message with room to spare. */
const MOST_LINES = 20
/** WeCom refuses longer ones. */
const MOST_BYTES_OF_WECOM = 4096

/** The request that tells of these notices, in the shape that the receiver wants. */
export function formatAlert(notices: readonly Notice[], url: string, style: AlertStyle, nowMs: number): AlertRequest {
  const { format, secret } = style
  const lines = linesOf(notices, style)
  const title = lines[0] ?? ''
  switch (format) {
    case 'json': {
      const events = notices.map((each) => eventOf(each, style))
      const body = JSON.stringify({ source: 'livehouse', text: lines.join('\n'), events })
      const signature = secret === null ? {} : { 'x-livehouse-signature': `sha256=${hmac(secret, body, 'hex')}` }
      return post(url, body, signature)
    }
    case 'dingtalk': {
      const signed = new URL(url)
      if (secret !== null) {
        signed.searchParams.set('timestamp', String(nowMs))
        signed.searchParams.set('sign', hmac(secret, `${nowMs}\n${secret}`, 'base64'))
      }
      return post(signed.href, { msgtype: 'markdown', markdown: { title, text: lines.join('\n\n') } })
    }
    case 'wecom':
      return post(url, { msgtype: 'markdown', markdown: { content: lines.join('\n') } })
    case 'feishu': {
      const timestamp = String(Math.floor(nowMs / 1000))
      // Signed with an empty message under a key that holds the time.
      const signature = secret === null ? {} : { timestamp, sign: hmac(`${timestamp}\n${secret}`, '', 'base64') }
      return post(url, { ...signature, msg_type: 'text', content: { text: lines.join('\n') } })
    }
    case 'slack':
      return post(url, { text: lines.join('\n') })
  }
}

/**
 * Why the receiver did not take it; undefined when it did. The robots answer 200 whatever happens: their body decides
 * (`errcode`, `code`, `StatusCode`). Their words are not repeated: they may hold the address or the secret.
 */
export function refusalIn(format: AlertStyle['format'], status: number, text: string): string | undefined {
  if (status < 200 || status > 299) return `status ${status}`
  if (format === 'json' || format === 'slack') return undefined
  const answer = parse(text)
  const code: unknown = answer.errcode ?? answer.code ?? answer.StatusCode
  return code === 0 ? undefined : `status ${status}, code ${typeof code === 'number' ? code : 'missing'}`
}

function linesOf(notices: readonly Notice[], style: AlertStyle, most = MOST_LINES): readonly string[] {
  const { format, language, keyword } = style
  const told = notices
    .slice(0, most)
    .map((notice) => `${notice.event === 'raised' ? '⚠' : '✓'} ${describeNotice(notice, language)}`)
  const rest = notices.length - told.length
  const title = notices.length === 1 ? 'livehouse' : `livehouse: ${notices.length}`
  const named = keyword === null ? title : `${title} ${keyword}`
  const lines = [named, ...told, ...(rest > 0 ? [language === 'en' ? `and ${rest} more` : `另有 ${rest} 条`] : [])]
  const isTooLong = format === 'wecom' && Buffer.byteLength(lines.join('\n')) > MOST_BYTES_OF_WECOM
  return isTooLong && told.length > 0 ? linesOf(notices, style, told.length - 1) : lines
}

function eventOf(notice: Notice, { language }: AlertStyle): Readonly<Record<string, unknown>> {
  const { kind, ...facts } = notice.cause
  const text = describeNotice(notice, language)
  return { event: notice.event, cause: keyOfCause(notice.cause), kind, at: notice.at.toISOString(), text, facts }
}

function post(url: string, body: string | object, headers: AlertRequest['headers'] = {}): AlertRequest {
  return { url, headers, body: typeof body === 'string' ? body : JSON.stringify(body) }
}

function hmac(key: string, message: string, encoding: 'hex' | 'base64'): string {
  return createHmac('sha256', key).update(message).digest(encoding)
}

function parse(text: string): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(text))
  } catch {
    return {}
  }
}
