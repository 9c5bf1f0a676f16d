import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { bareLink, maskOf } from '../../../../src/bi/views/fragments/masks.ts'
import { createTestDatabase } from '../../../helpers/postgres.ts'

const cases = [
  ['phone', '13812341234', '138****1234'],
  ['phone', '+8613812341234', '+86138****1234'],
  ['phone', '1381234', '****'],
  ['phone', '138 1234 1234', '****'],
  ['phone', 'call me on 13812341234', '****'],
  ['phone', '13812341234567890', '****'],
  ['ip', '115.236.12.34', '115.236.12.0/24'],
  ['ip', '2408:8409:1a2b:3c4d::1', '2408:8409:1a2b::/48'],
  ['nickname', '王小明', '王**'],
  ['nickname', '👨‍👩‍👧', '👨**'],
  ['address', '浙江省杭州市西湖区文三路1号', '浙江杭州'],
  ['address', '上海浦东', '上海'],
  ['address', '浙江王小明', '浙江'],
  ['address', '美国加利福尼亚', '***'],
  ['answers', '示例科技', '***'],
] as const
/** However the question mark before a query string is encoded. */
const marks = ['?', '%3F', '%253F', '%u003F', '%uFF1F', '\\u003f', '%5Cu003F', '%EF%BC%9F', '？']
const links = marks.map((mark) => ['link', `a/b%20${mark}name=x`, 'a/b%20'] as const)
const nulls = (['phone', 'ip', 'nickname', 'address', 'answers'] as const).map((kind) => [kind, null, null] as const)

const mask = { ...maskOf, link: bareLink }

test('each kind of personal value is shown masked, and a link without its query string', async () => {
  await using database = await createTestDatabase()
  for (const [kind, value, expected] of [...cases, ...links, ...nulls]) {
    const type = sql.raw(kind === 'ip' ? 'inet' : 'text')
    const { rows } = await sql<{ masked: string | null }>`
      select (${sql.raw(mask[kind]('x.value'))})::text as masked
      from (select ${value}::${type} as value) x`.execute(database.db)
    expect(rows, `${kind}: ${value}`).toEqual([{ masked: expected }])
  }
})
