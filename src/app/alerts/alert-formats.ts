import { createHmac } from 'node:crypto'
import { keyOfCause, type Notice } from '../../core/cause.ts'
import type { WebhookRequest } from '../../service/webhook.ts'
import type { AlertSettings } from '../settings.ts'
import { describeNotice } from './describe-cause.ts'

export type AlertStyle = Pick<AlertSettings, 'format' | 'language' | 'secret' | 'keyword'>

/** One POST of JSON. */
type AlertRequest = Required<WebhookRequest>

/** Well below the number of lines that chat robots accept in one message. */
const MAX_LINES = 20
/** WeCom refuses longer messages. */
const MAX_WECOM_BYTES = 4096

/** Builds the request that sends these notices, in the receiver's format. */
export function formatAlert(notices: readonly Notice[], url: string, style: AlertStyle, nowMs: number): AlertRequest {
  const { format, secret } = style
  const lines = linesOf(notices, style)
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
      return post(signed.href, { msgtype: 'markdown', markdown: { title: lines[0] ?? '', text: lines.join('\n\n') } })
    }
    case 'wecom':
      return post(url, { msgtype: 'markdown', markdown: { content: lines.join('\n') } })
    case 'feishu': {
      const timestamp = String(Math.floor(nowMs / 1000))
      // Feishu's signature is that of an empty message, with a key that contains the time.
      const signature = secret === null ? {} : { timestamp, sign: hmac(`${timestamp}\n${secret}`, '', 'base64') }
      return post(url, { ...signature, msg_type: 'text', content: { text: lines.join('\n') } })
    }
    case 'slack':
      return post(url, { text: lines.join('\n') })
  }
}

/**
 * Why the receiver refused an alert; undefined if it accepted it. Chat robots always answer 200; a code in their body
 * decides (`errcode`, `code`, `StatusCode`). Their message is not repeated: it may contain the URL or the secret.
 */
export function refusalIn(format: AlertStyle['format'], status: number, text: string): string | undefined {
  if (status < 200 || status > 299) return `status ${status}`
  if (format === 'json' || format === 'slack') return undefined
  const answer = parse(text)
  const code: unknown = answer.errcode ?? answer.code ?? answer.StatusCode
  return code === 0 ? undefined : `status ${status}, code ${typeof code === 'number' ? code : 'missing'}`
}

function linesOf(notices: readonly Notice[], style: AlertStyle, most = MAX_LINES): readonly string[] {
  const { format, language, keyword } = style
  const listed = notices
    .slice(0, most)
    .map((notice) => `${notice.event === 'raised' ? '⚠' : '✓'} ${describeNotice(notice, language)}`)
  const rest = notices.length - listed.length
  const title = notices.length === 1 ? 'livehouse' : `livehouse: ${notices.length}`
  const heading = keyword === null ? title : `${title} ${keyword}`
  const lines = [heading, ...listed, ...(rest > 0 ? [language === 'en' ? `and ${rest} more` : `另有 ${rest} 条`] : [])]
  const isTooLong = format === 'wecom' && Buffer.byteLength(lines.join('\n')) > MAX_WECOM_BYTES
  return isTooLong && listed.length > 0 ? linesOf(notices, style, listed.length - 1) : lines
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
