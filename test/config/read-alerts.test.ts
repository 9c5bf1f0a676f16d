import { expect, test } from 'vitest'
import { readAlertSettings } from '../../src/config/read-alerts.ts'
import { createSettingSource } from '../../src/config/setting-source.ts'

function read(environment: Readonly<Record<string, string>>) {
  const source = createSettingSource(environment)
  return { settings: readAlertSettings(source), problems: source.problems() }
}

test('nobody is told unless somebody is named', () => {
  const { settings, problems } = read({})
  const robot = { webhook: null, format: 'json', secret: null, keyword: null }
  expect(settings).toEqual({ ...robot, language: 'en', heartbeatUrl: null })
  expect(problems).toEqual([])
})

test('a robot with a signature and a keyword is read', () => {
  const [webhook, heartbeatUrl] = ['https://robot.example.com/send?access_token=abc', 'http://127.0.0.1:9/beat']
  const { settings, problems } = read({
    LIVEHOUSE_ALERT_WEBHOOK: webhook,
    LIVEHOUSE_ALERT_FORMAT: 'dingtalk',
    LIVEHOUSE_ALERT_SECRET: 'SEC1',
    LIVEHOUSE_ALERT_KEYWORD: '直播',
    LIVEHOUSE_LANG: 'zh-CN',
    LIVEHOUSE_HEARTBEAT_URL: heartbeatUrl,
  })
  expect(problems).toEqual([])
  const robot = { webhook, format: 'dingtalk', secret: 'SEC1', keyword: '直播' }
  expect(settings).toEqual({ ...robot, language: 'zh-CN', heartbeatUrl })
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
])('what cannot work is refused, without showing the address: %j', (environment, problem) => {
  const { problems } = read(environment)
  expect(problems).toEqual([expect.stringContaining(problem)])
  expect(problems.join('')).not.toContain('hidden')
})
