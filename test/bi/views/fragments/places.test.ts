import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { city, province } from '../../../../src/bi/views/fragments/places.ts'
import { createTestDatabase } from '../../../helpers/postgres.ts'

const cases: readonly (readonly [string, string | null, string | null])[] = [
  ['浙江杭州', '浙江', '杭州'],
  ['中国浙江杭州', '浙江', '杭州'],
  ['中国，上海', '上海', '上海'],
  ['浙江省杭州市西湖区文三路1号', '浙江', '杭州'],
  ['浙江', '浙江', null],
  ['上海市浦东新区', '上海', '上海'],
  ['内蒙古自治区锡林郭勒盟', '内蒙古', '锡林郭勒盟'],
  ['黑龙江大兴安岭地区', '黑龙江', '大兴安岭地区'],
  ['新疆维吾尔自治区乌鲁木齐市', '新疆', '乌鲁木齐'],
  ['贵州黔东南苗族侗族自治州', '贵州', '黔东南苗族侗族自治州'],
  ['贵州黔东南凯里', '贵州', '黔东南苗族侗族自治州'],
  ['浙江省 杭州市', '浙江', '杭州'],
  ['湖北神农架', '湖北', '神农架林区'],
  ['浙江王小明', '浙江', null],
  ['浙江王小明市', '浙江', null],
  ['香港特别行政区', '香港', '香港'],
  ['台湾台北', '台湾', '台北'],
  ['吉林吉林', '吉林', '吉林'],
  ['青海海南', '青海', '海南藏族自治州'],
  ['美国加利福尼亚', null, null],
  ['杭州', null, null],
  ['', null, null],
  [' 广东深圳', null, null],
  ['广东　深圳', '广东', '深圳'],
  ["浙江'; drop", '浙江', null],
]

test('province and city are read from the addresses that have them', async () => {
  await using database = await createTestDatabase()
  const { rows } = await sql<{ address: string; province: string | null; city: string | null }>`
      select a.address, ${sql.raw(province('a.address'))} as province, ${sql.raw(city('a.address'))} as city
      from unnest(${cases.map(([address]) => address)}::text[]) with ordinality a (address, place)
      order by a.place`.execute(database.db)
  expect(rows.map((row) => [row.address, row.province, row.city])).toEqual(cases)
})
