import { expect, test } from 'vitest'
import { doctor } from '../../src/cli/doctor.ts'
import { createFakeClock } from '../helpers/fake-clock.ts'
import { runVerb } from '../helpers/run-verb.ts'
import { startScriptedService } from '../helpers/scripted-service.ts'

const clock = createFakeClock({ isAutomatic: true })

test('a test arrives in the shape of the robot, and the heartbeat is asked once', async () => {
  await using robot = await startScriptedService(() => ({ json: { errcode: 0 } }))
  const environment = {
    LIVEHOUSE_ALERT_WEBHOOK: `${robot.url}/send?access_token=secret-key`,
    LIVEHOUSE_ALERT_FORMAT: 'dingtalk',
    LIVEHOUSE_LANG: 'zh-CN',
    LIVEHOUSE_HEARTBEAT_URL: `${robot.url}/beat`,
  }
  const { code, printed } = await runVerb(doctor, ['--alert'], { environment, clock })
  expect(code).toBe(0)
  expect(printed.map((line) => line[0])).toEqual(['✓', '✓'])
  expect(robot.requests.map(({ method, path }) => `${method} ${path}`)).toEqual(['POST /send', 'GET /beat'])
  expect(JSON.stringify(robot.requests[0]?.body)).toContain('测试')
})

test('a robot that refuses, and one that is not there, are told with what to do and without the address', async () => {
  await using robot = await startScriptedService(() => ({ json: { errcode: 310000 } }))
  const environment = {
    LIVEHOUSE_ALERT_WEBHOOK: `${robot.url}/secret-key`,
    LIVEHOUSE_ALERT_FORMAT: 'dingtalk',
    LIVEHOUSE_HEARTBEAT_URL: 'http://127.0.0.1:9/secret-key',
  }
  const { code, printed } = await runVerb(doctor, ['--alert', '--json'], { environment, clock })
  expect(code).toBe(1)
  expect(JSON.parse(printed.join(''))).toMatchObject({
    status: 'failed',
    checks: [
      {
        name: 'alerts',
        result: 'failed',
        seen: expect.stringMatching(/310000/),
        mend: expect.stringMatching(/KEYWORD/),
      },
      { name: 'heartbeat', result: 'failed', seen: 'no connection (ECONNREFUSED)' },
    ],
  })
  expect(printed.join('')).not.toContain('secret-key')
})

test('where nobody is to be told, it says so', async () => {
  const { code, printed } = await runVerb(doctor, ['--alert'], { environment: {}, clock })
  expect(code).toBe(0)
  expect(printed.map((line) => line[0])).toEqual(['–', '–'])
})
