import { expect, test } from 'vitest'
import { answerWith } from '../../src/emulator/answer.ts'
import type { FaultEffect } from '../../src/emulator/faults.ts'
import { ofTest } from '../helpers/of-file.ts'
import { readStreamTable } from '../helpers/read-table.ts'
import { startAccount } from '../helpers/start-account.ts'

const utf8 = (text: string) => Buffer.from(text)
const withMark = (text: string) => utf8(`\uFEFF${text}`)
/** 张三 is all that is not ASCII. */
const gb18030 = (text: string) => Buffer.from(text.replaceAll('张三', '\xD5\xC5\xC8\xFD'), 'latin1')

/** Every viewer is 张三, and the answer goes out in these bytes as this content type. */
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

const streams = ['--streams', 'visitors']
const account = ofTest(() => startAccount({ channels: 1, viewers: 5 }))

test.each<[string, (text: string) => Buffer]>([
  ['application/json', utf8],
  ['application/json', withMark],
  ['application/json; charset=ISO-8859-1', utf8],
  ['application/json; charset=gbk', utf8],
  ['application/json; charset=gb18030', gb18030],
  ['application/json;charset="GBK"', gb18030],
  ['application/json; charset=cp936', gb18030],
  ['application/json; charset=utf8mb4', utf8],
])('an answer declared %s is read as it was written', async (contentType, encode) => {
  account.emulator.faults.push({ endpoint: 'visitorList', effect: written(contentType, encode) })
  expect(await account.sync(streams)).toMatchObject({ code: 0 })
  const rows = await readStreamTable(account.database.db, 'visitors')
  expect(new Set(rows.map(({ nickname }) => nickname))).toEqual(new Set(['张三']))
})

test.each(['application/json', 'application/json; charset=utf-8', 'application/json; charset=euc-tw'])(
  'what is not in the charset of %s is asked for again, and lands nothing',
  async (contentType) => {
    account.emulator.faults.push({ endpoint: 'visitorList', effect: written(contentType, gb18030), times: 2 })
    expect(await account.sync(streams)).toMatchObject({ code: 0, streams: { visitors: { retries: 2 } } })

    account.emulator.faults.push({ endpoint: 'visitorList', effect: written(contentType, gb18030) })
    const error = { code: 'api.badBody', message: expect.stringContaining('not valid utf-8 at character') }
    expect(await account.sync(streams)).toMatchObject({ code: 3, errors: [error] })
    const rows = await readStreamTable(account.database.db, 'visitors')
    expect(JSON.stringify(rows)).not.toContain('\uFFFD')
  },
)
