import { createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import { type AlertStyle, formatAlert, refusalIn } from '../../../src/app/alerts/alert-formats.ts'
import { describeNotice } from '../../../src/app/alerts/describe-cause.ts'
import type { Cause, Notice } from '../../../src/core/cause.ts'
import { times } from '../../helpers/first-rows.ts'

const at = new Date('2026-11-20T06:30:00Z')
const NOW_MS = 1_700_000_000_123
const URL_WITH_KEY = 'https://robot.example.com/send?access_token=abc'
const raised: Notice = { event: 'raised', cause: { kind: 'channelGone', channel: '9' }, at }

const problems = [{ stream: 'gifts', code: 'slice.short', count: 2 }] as const
const causes: readonly Cause[] = [
  { kind: 'run', name: 'nightly', runId: '7', status: 'partial', problems },
  { kind: 'run', name: 'sync', runId: null, status: 'failed', problems: [] },
  { kind: 'unknownField', stream: 'visitors', field: 'vip' },
  { kind: 'channelGone', channel: '9' },
]

function request(format: AlertStyle['format'], more: Partial<AlertStyle> = {}, notices: readonly Notice[] = [raised]) {
  const style: AlertStyle = { format, language: 'en', secret: null, keyword: null, ...more }
  const { url, headers, body } = formatAlert(notices, URL_WITH_KEY, style, NOW_MS)
  return { url: new URL(url), headers, body, json: Object(JSON.parse(body)) }
}

test.each(['en', 'zh'] as const)('every cause has its own sentence in %s, when it begins and ends', (language) => {
  const texts = causes.flatMap((cause) =>
    (['raised', 'cleared'] as const).map((event) => describeNotice({ event, cause, at }, language)),
  )
  expect(texts.every((text) => text.length >= 4)).toBe(true)
  expect(new Set(texts).size).toBe(texts.length)
})

test('a field name from the service cannot inject markup into a message', () => {
  const field = `a](http://evil)<at id=all>@all *x* \n# y`
  const text = describeNotice({ event: 'raised', cause: { kind: 'unknownField', stream: 'gifts', field }, at }, 'en')
  expect(text).not.toMatch(/[<>[\]()*#@\n]/)
})

test('the message about a job that never became a run gives the reason and the command that shows it', () => {
  const cause = { kind: 'run', name: 'run nightly', runId: null, status: 'failed', problems: [] } as const
  const reason = 'it was begun 5 times and never ended[x](http://evil)'
  expect(describeNotice({ event: 'raised', cause: { ...cause, reason }, at }, 'en')).toBe(
    'livehouse run nightly ended failed: it was begun 5 times and never ended x http://evil. See livehouse jobs.',
  )
  expect(describeNotice({ event: 'raised', cause, at }, 'zh')).toBe(
    'livehouse run nightly 运行失败。详见 livehouse jobs。',
  )
})

test('plain JSON lists the events and is signed if there is a secret', () => {
  const { json, headers, body } = request('json', { secret: 'S' })
  const facts = { channel: '9' }
  const event = { event: 'raised', cause: 'channel=9', kind: 'channelGone', at: at.toISOString(), facts }
  expect(json).toMatchObject({ source: 'livehouse', events: [event] })
  const signature = createHmac('sha256', 'S').update(body).digest('hex')
  expect(headers).toEqual({ 'x-livehouse-signature': `sha256=${signature}` })
  expect(request('json').headers).toEqual({})
})

test('each messenger gets its own format and signature, and WeCom less than 4,096 bytes', () => {
  const { url, json } = request('dingtalk', { secret: 'SEC' })
  const markdown = { title: expect.any(String), text: expect.stringMatching(/Channel 9/) }
  expect(json).toMatchObject({ msgtype: 'markdown', markdown })
  expect(url.searchParams.get('access_token')).toBe('abc')
  expect(url.searchParams.get('timestamp')).toBe('1700000000123')
  // As computed by `printf '1700000000123\nSEC' | openssl dgst -sha256 -hmac SEC -binary | base64`.
  expect(url.searchParams.get('sign')).toBe(createHmac('sha256', 'SEC').update('1700000000123\nSEC').digest('base64'))
  expect(request('dingtalk').url.searchParams.has('sign')).toBe(false)
  // Feishu: the time in seconds, and an empty text signed with both as the key.
  const content = expect.stringMatching(/9/)
  const feishu = request('feishu', { secret: 'SEC' }).json
  expect(feishu).toMatchObject({ msg_type: 'text', content: { text: content }, timestamp: '1700000000' })
  expect(feishu.sign).toBe(createHmac('sha256', '1700000000\nSEC').update('').digest('base64'))
  expect(request('feishu').json).not.toHaveProperty('sign')
  expect(request('wecom').json).toMatchObject({ msgtype: 'markdown', markdown: { content } })
  expect(request('slack').json).toEqual({ text: content })
  const run = { kind: 'run', name: 'sync', runId: null, status: 'failed', problems: [] } as const
  const long = times(10, (): Notice => ({ ...raised, cause: { ...run, reason: '磁盘空间不足'.repeat(33) } }))
  const { markdown: cut } = request('wecom', {}, long).json
  expect(cut.content).toMatch(/and 4 more$/)
  expect(Buffer.byteLength(cut.content)).toBeLessThan(4096)
})

const formats = ['json', 'dingtalk', 'wecom', 'feishu', 'slack'] as const
test.each(formats)('%s: a message contains the keyword, and many notices make one message', (format) => {
  const many = times(300, (n): Notice => ({ ...raised, cause: { kind: 'channelGone', channel: `${n}` } }))
  const { body } = request(format, { keyword: '直播' }, many)
  expect(body).toContain('直播')
  expect(body).toMatch(/and 2[89]0 more/)
  expect(format === 'json' ? 0 : Buffer.byteLength(body)).toBeLessThan(4096)
})

test.each<[AlertStyle['format'], number, string, RegExp]>([
  ['json', 204, '', /accepted/],
  ['slack', 200, 'ok', /accepted/],
  ['slack', 403, 'invalid_token', /403/],
  ['dingtalk', 200, '{"errcode":0,"errmsg":"ok"}', /accepted/],
  ['dingtalk', 200, '{"errcode":310000,"errmsg":"sign not match"}', /^status 200, code 310000$/],
  ['wecom', 200, '{"errcode":93000}', /93000/],
  ['feishu', 200, '{"code":0,"msg":"success"}', /accepted/],
  ['feishu', 200, '{"StatusCode":0}', /accepted/],
  ['feishu', 200, '{"code":19021}', /19021$/],
  ['wecom', 200, '<html>', /missing/],
])('an answer of %s with status %i %s means %s', (format, status, text, refusal) => {
  expect(refusalIn(format, status, text) ?? 'accepted').toMatch(refusal)
})
