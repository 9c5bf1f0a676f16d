import assert from 'node:assert/strict'
import { describe, expect, test } from 'vitest'
import { sync } from '../../src/cli/sync.ts'
import { systemClock } from '../../src/core/clock.ts'
import { LivehouseError } from '../../src/core/errors.ts'
import { answerWith } from '../../src/emulator/answer.ts'
import type { FaultEffect } from '../../src/emulator/faults.ts'
import { createRedactor } from '../../src/log/redact.ts'
import { readAnswer } from '../../src/service/read-answer.ts'
import { gifts } from '../../src/streams/gifts.ts'
import { visitors } from '../../src/streams/visitors.ts'
import { itemReader } from '../../src/transform/read-item.ts'
import { readCookies } from '../../src/web/access.ts'
import { fieldValue } from '../helpers/fault-effects.ts'
import { readStreamTable } from '../helpers/read-table.ts'
import { pageOf } from '../helpers/scripted-pages.ts'
import { startScriptedService } from '../helpers/scripted-service.ts'
import { startAccount } from '../helpers/start-account.ts'

/** Bodies of about `size` characters that a careless parser takes long to read. */
const bodies: Readonly<Record<string, (size: number) => string>> = {
  'a text of digits': (size) => JSON.stringify([{ nick: '1'.repeat(size) }]),
  'a text of exponents': (size) => JSON.stringify([{ nick: '1e100'.repeat(size / 5) }]),
  'an integer': (size) => `[{"visit_times":${'7'.repeat(size)}}]`,
  'an exponent': (size) => `[{"money":1e${'9'.repeat(size)}}]`,
  'zeros before an amount': (size) => `[{"money":"${'0'.repeat(size)}x"}]`,
  'lists in lists': (size) => '['.repeat(size / 2) + ']'.repeat(size / 2),
  'a message of dots': (size) => `{"errcode":1,"msg":"${'a.'.repeat(size / 2)}"}`,
  'a message of secrets': (size) => `{"errcode":1,"msg":"?${'secret'.repeat(size / 6)}"}`,
  'an errcode': (size) => `{"errcode":${'9'.repeat(size)},"msg":"${'?a='.repeat(size / 3)}"}`,
}
const { text: redact } = createRedactor(['secret-token'])
const call = {
  name: 'visitorList',
  method: 'POST',
  host: 'base',
  path: '/',
  endpoint: 'visitorList',
  authorization: 'bearer',
  retries: 'read',
} as const
const context = { partition: { channel: '9', type: 'cash' }, serviceDay: '2026-11-20' }

/** Does all that is done with a body before its rows are loaded. */
function readBody(text: string): void {
  const json = readOrNot(text)
  if (!Array.isArray(json)) return
  for (const stream of [visitors, gifts]) {
    const read = itemReader(stream, context)
    for (const item of json.slice(0, 100)) read(item, pageOf([]))
  }
}

function readOrNot(text: string): unknown {
  try {
    return readAnswer(call, { status: 200, text, headers: {} }, systemClock, redact).json
  } catch (error) {
    return error instanceof LivehouseError ? undefined : assert.fail(String(error))
  }
}

/** The milliseconds of CPU time that the fastest of three calls took. */
function cost(work: () => void): number {
  const times = [1, 2, 3].map(() => {
    const before = process.cpuUsage()
    work()
    return process.cpuUsage(before).user / 1000
  })
  return Math.min(...times)
}

describe('time grows linearly with the size of what came', () => {
  const SMALL = 120_000
  const TIMES = 16
  /** Linear work takes 16 times as long, quadratic work 256 times. */
  const MOST = 64
  const isLinear = (work: (size: number) => () => void, size = SMALL) => {
    const [small, large] = [work(size), work(size * TIMES)]
    return cost(large) <= MOST * Math.max(1, cost(small))
  }

  test.each(Object.entries(bodies))('%s', (_, bodyOf) => {
    const work = (size: number) => readBody.bind(undefined, bodyOf(size))
    expect(isLinear(work)).toBe(true)
  })

  test('cookies before any log-in, whatever they repeat', () => {
    const parts = ['', ' ', ';', '=', 'a', 'a=']
    const shapes = parts.flatMap((head) => parts.flatMap((again) => parts.map((tail) => ({ head, again, tail }))))
    const steep = shapes.find(
      ({ head, again, tail }) => !isLinear((size) => () => readCookies(head + again.repeat(size) + tail), 4000),
    )
    expect(steep).toBeUndefined()
  })
})

test('rows with fields of 500,000 characters land', async () => {
  await using account = await startAccount({ viewers: 5 })
  for (const [field, value] of [
    ['nick', '1'.repeat(500_000)],
    ['addr', '.'.repeat(500_000)],
    ['visit_times', '7'.repeat(500_000)],
    ['device', '1e100'.repeat(100_000)],
  ] as const) {
    account.emulator.faults.push({ effect: fieldValue(field, value), endpoint: 'visitorList' })
  }
  expect(await account.sync('visitors')).toMatchObject({ code: 0 })
  const rows = await readStreamTable(account.database.db, 'visitors')
  expect(rows.length).toBeGreaterThan(0)
  for (const row of rows) {
    expect(row.nickname).toHaveLength(500_000)
    expect(row.visit_count).toBeNull()
  }
})

test.each([
  ['a million lists in lists', '['.repeat(1_000_000) + ']'.repeat(1_000_000), /nested deeper than 200 levels/],
  ['lists in lists', `{"a":${'['.repeat(200)}${']'.repeat(200)}}`, /nested deeper than 200 levels/],
  ['millions of values', `[${'1,'.repeat(1_000_000)}1]`, /more than 200000 values/],
  ['an errcode of 300,000 digits', `{"errcode":${'9'.repeat(300_000)},"msg":"no"}`, /code 9{40} "no"/],
  ['an errcode that is cut within a character', `{"errcode":"${'E'.repeat(39)}🎁","msg":"no"}`, /code E{39}. "no"/],
])('%s: refused with a short message', async (_, text, message) => {
  await using service = await startScriptedService(() => ({ text }))
  await using account = await startAccount({ viewers: 1 })
  const ended = await account.run(sync, ['--streams', 'visitors', '--channels', account.emulator.channelIds[0] ?? ''], {
    LIVEHOUSE_BASE_URL: service.url,
  })
  const output = [...ended.printed, ...ended.remarks, String(ended.error)].join('\n')
  expect(output).toMatch(message)
  expect(output.length).toBeLessThan(5000)
})

const utf8 = (text: string) => Buffer.from(text)
const withMark = (text: string) => utf8(`\uFEFF${text}`)
/** Only 张三 is not ASCII. */
const gb18030 = (text: string) => Buffer.from(text.replaceAll('张三', '\xD5\xC5\xC8\xFD'), 'latin1')

/** Every viewer is called 张三, and the answer is sent in this encoding with this content type. */
function written(contentType: string, encode: (text: string) => Buffer): FaultEffect {
  return {
    name: contentType,
    answer: (answer) => {
      if (answer.body.kind !== 'list') return answer
      const { items, total, envelope } = answer.body
      const named = items().map((item) => Object.assign({}, item, { nick: '张三' }))
      const text = encode(JSON.stringify(envelope(named, total)).replaceAll(/[^\p{ASCII}张三]/gu, '?'))
      return answerWith({ kind: 'text', contentType, text }, 200, { 'content-type': contentType })
    },
  }
}

test.each<[string, (text: string) => Buffer]>([
  ['application/json', utf8],
  ['application/json', withMark],
  ['application/json; charset=ISO-8859-1', utf8],
  ['application/json; charset=gbk', utf8],
  ['application/json; charset=gb18030', gb18030],
  ['application/json;charset="GBK"', gb18030],
  ['application/json; charset=cp936', gb18030],
  ['application/json; charset=utf8mb4', utf8],
])('an answer declared %s is decoded as it was encoded', async (contentType, encode) => {
  await using account = await startAccount({ channels: 1, viewers: 5 })
  account.emulator.faults.push({ endpoint: 'visitorList', effect: written(contentType, encode) })
  expect(await account.sync('visitors')).toMatchObject({ code: 0 })
  const rows = await readStreamTable(account.database.db, 'visitors')
  expect(new Set(rows.map(({ nickname }) => nickname))).toEqual(new Set(['张三']))
})

const declared = ['application/json', 'application/json; charset=utf-8', 'application/json; charset=euc-tw']
test.each(declared)('a body not in the charset of %s is requested again, and lands nothing', async (contentType) => {
  await using account = await startAccount({ channels: 1, viewers: 5 })
  account.emulator.faults.push({ endpoint: 'visitorList', effect: written(contentType, gb18030), times: 2 })
  expect(await account.sync('visitors')).toMatchObject({ code: 0, streams: { visitors: { retries: 2 } } })

  account.emulator.faults.push({ endpoint: 'visitorList', effect: written(contentType, gb18030) })
  const error = { code: 'api.badBody', message: expect.stringContaining('not valid utf-8 at character') }
  expect(await account.sync('visitors')).toMatchObject({ code: 3, errors: [error] })
  expect(JSON.stringify(await readStreamTable(account.database.db, 'visitors'))).not.toContain('\uFFFD')
})
