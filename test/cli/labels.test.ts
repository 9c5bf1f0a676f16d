import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { labels } from '../../src/cli/labels.ts'
import { runQuery } from '../../src/store/pool.ts'
import { livehouse } from '../helpers/command-line.ts'
import { createTestDatabase } from '../helpers/postgres.ts'
import { runVerb } from '../helpers/run-verb.ts'
import { createTemporaryFile } from '../helpers/temporary-folder.ts'

const fileOf = (content: string | Uint8Array) => createTemporaryFile('gifts.csv', content)

test('imported labels appear in dim_gift; a second import changes nothing, and empty ones are removed', async () => {
  await using database = await createTestDatabase()
  const environment = { DATABASE_URL: database.url }
  const run = async (...argv: string[]) => await runVerb(labels, argv, { environment })
  await sql`insert into livehouse.gifts (channel_id, gift_type, gift_key, gift_id, occurrence, run_id) values
    ('9', 'prop', 'a', 101, 1, 1), ('9', 'prop', 'b', 102, 1, 1), ('9', 'prop', 'c', 102, 1, 1)`.execute(database.db)
  expect((await run('export')).printed).toEqual(['gift_type,gift_id,label,gift_group', 'prop,101,,', 'prop,102,,'])

  const path = fileOf('\uFEFFgift_type,gift_id,label,gift_group\nprop,101,"火箭, ""大""",贵\ncash,27,Reward,\n')
  expect((await run('import', path)).printed).toEqual(['imported: 2 gifts'])
  expect((await run('import', path)).code).toBe(0)
  const labelQuery = 'select gift_key, gift_title, gift_group from livehouse_bi.dim_gift order by 1'
  expect(await runQuery(database.db, labelQuery)).toEqual([
    { gift_key: 'cash:27', gift_title: 'Reward', gift_group: null },
    { gift_key: 'prop:101', gift_title: '火箭, "大"', gift_group: '贵' },
    { gift_key: 'prop:102', gift_title: 'prop 102', gift_group: null },
  ])
  const exported = (await run('export')).printed
  expect(exported).toContain('prop,101,"火箭, ""大""",贵')
  await run('import', fileOf(exported.join('\n')))
  expect((await run('export')).printed).toEqual(exported)
  await run('import', fileOf('gift_id,label\n101,Rocket\n'))
  expect((await run('export')).printed).toContain('prop,101,Rocket,')
  // Columns in any order, comments, quotes, leading zeros and direction marks.
  await run('import', fileOf('label,gift_id\n"火箭, 大",0101\n# others\n\n"a ""\u200eb""",102\n'))
  const { out } = await livehouse(['labels', 'export'], environment)
  expect(out.split('\n').slice(2)).toEqual(['prop,101,"火箭, 大",', 'prop,102,"a ""\u200eb""",', ''])
  await run('import', fileOf('gift_id,label\n101,\n102,\n'))
  expect((await run('export')).printed.slice(1)).toEqual(['cash,27,Reward,', 'prop,101,,', 'prop,102,,'])
})

test.each([
  [['import', fileOf('gift_id,label\nx,a\n')], 'gifts.csv line 2: gift_id is "x"; it should be a whole number'],
  [['import', fileOf('')], 'gifts.csv has the header ""; it should have gift_id, label'],
  [['import', fileOf('gift_id,label\n9223372036854775808,a\n')], 'line 2: gift_id is "9223372036854775808"'],
  [['import', fileOf('gift_type,gift_id,label\ncoin,1,a\n')], 'line 2: gift_type is "coin"; it should be cash, prop'],
  [['import', fileOf('gift_id,label\n1,a\n01,b\n')], 'line 3: prop gift 1 is listed twice, first on line 2'],
  [['import', fileOf(new Uint8Array([0xbb, 0xf0, 0xbc, 0xfd]))], 'has the header "火箭"'],
])('wrong use %j is refused before the database is opened', async (argv, problem) => {
  const environment = { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' }
  expect((await runVerb(labels, argv, { environment })).problems.join('\n')).toContain(problem)
})
