import { expect, test } from 'vitest'
import { readAlertSettings } from '../../src/config/read-alerts.ts'
import { createSettingSource } from '../../src/config/setting-source.ts'

function read(environment: Readonly<Record<string, string>>) {
  const source = createSettingSource(environment)
  return { settings: readAlertSettings(source), problems: source.problems() }
}

const [webhook, heartbeatUrl] = ['https://robot.example.com/send?access_token=abc', 'http://127.0.0.1:9/beat']
const robot = { LIVEHOUSE_ALERT_WEBHOOK: webhook, LIVEHOUSE_ALERT_FORMAT: 'dingtalk', LIVEHOUSE_ALERT_SECRET: 'SEC1' }
const others = { LIVEHOUSE_ALERT_KEYWORD: '直播', LIVEHOUSE_LANG: 'zh-CN', LIVEHOUSE_HEARTBEAT_URL: heartbeatUrl }
const noReceiver = { webhook: null, format: 'json', secret: null, keyword: null, language: 'en', heartbeatUrl: null }
test.each([
  ['no receiver by default', {}, noReceiver],
  ['a robot with a signature', robot, { ...noReceiver, webhook, format: 'dingtalk', secret: 'SEC1' }],
  ['keyword, language and heartbeat', { ...robot, ...others }, { keyword: '直播', language: 'zh', heartbeatUrl }],
])('alert settings: %s', (_, environment, settings) => {
  expect(read(environment)).toMatchObject({ settings, problems: [] })
})

const slack = { LIVEHOUSE_ALERT_WEBHOOK: 'https://h', LIVEHOUSE_ALERT_FORMAT: 'slack' }
test.each([
  [{ LIVEHOUSE_ALERT_WEBHOOK: 'ftp://h/hidden' }, 'it should be an https URL'],
  [{ LIVEHOUSE_ALERT_WEBHOOK: 'http://h/hidden' }, 'LIVEHOUSE_ALLOW_HTTP=1 allows plain http'],
  [{ LIVEHOUSE_HEARTBEAT_URL: 'hidden' }, 'it should be an https URL'],
  [{ LIVEHOUSE_ALERT_WEBHOOK: 'https://h', LIVEHOUSE_ALERT_FORMAT: 'sms' }, 'LIVEHOUSE_ALERT_FORMAT is "sms"'],
  [{ ...slack, LIVEHOUSE_ALERT_SECRET: 'hidden' }, 'slack has no signature'],
  [{ LIVEHOUSE_LANG: 'fr' }, 'LIVEHOUSE_LANG is "fr"'],
  [{ LIVEHOUSE_ALERT_KEYWORD: 'word' }, 'LIVEHOUSE_ALERT_WEBHOOK is not'],
])('settings that cannot work are refused without showing the address: %j', (environment, problem) => {
  const { problems } = read(environment)
  expect(problems).toEqual([expect.stringContaining(problem)])
  expect(problems.join('')).not.toContain('hidden')
})
