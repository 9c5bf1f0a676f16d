import { expect, test } from 'vitest'
import { createWebhook } from '../../src/service/webhook.ts'
import { type ScriptedAnswer, startScriptedService } from '../helpers/scripted-service.ts'
import { startStallingProxy } from '../helpers/stalling-proxy.ts'

const proxies = { http: null, https: null, none: null }
const signal = new AbortController().signal

test('a hanging or absent webhook is an error; a redirect, or a status with a cut body, is an answer', async () => {
  const startAnswer = (path: string): ScriptedAnswer => ({
    raw: (response) => {
      if (path === '/hang') return
      response.writeHead(200).write('{"errcode":')
      if (path === '/cut') setTimeout(() => response.destroy(), 20)
    },
  })
  await using robot = await startScriptedService(({ path }) =>
    path === '/moved' ? { status: 302, headers: { location: '/elsewhere' }, text: '' } : startAnswer(path),
  )
  await using webhook = createWebhook({ proxies, timeoutMs: 1000 })
  const post = (url: string) => webhook.ask({ url, headers: {}, body: '{}' }, signal)
  expect(await post(`${robot.url}/hang`)).toEqual({ status: undefined, failure: 'no answer within 1 s' })
  expect(await post(`${robot.url}/moved`)).toMatchObject({ status: 302 })
  for (const path of ['/endless', '/cut']) expect(await post(robot.url + path)).toEqual({ status: 200, text: '' })
  expect(robot.requests.map(({ path }) => path)).toEqual(['/hang', '/moved', '/endless', '/cut'])
  const failure = 'no connection (ECONNREFUSED)'
  expect(await post('http://127.0.0.1:9/secret-key')).toEqual({ status: undefined, failure })
  await using proxy = await startStallingProxy(robot.url)
  proxy.stall()
  await using tunnelled = createWebhook({ proxies: { ...proxies, https: proxy.url }, timeoutMs: 100 })
  const { failure: reason } = Object(await tunnelled.ask({ url: 'https://robot.invalid', headers: {} }, signal))
  expect(reason).toBe('no answer within 0.1 s')
})
