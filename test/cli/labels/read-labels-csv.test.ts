import { expect, test } from 'vitest'
import { readLabelsCsv } from '../../../src/cli/labels/read-labels-csv.ts'

function read(text: string) {
  const problems: string[] = []
  return { labels: readLabelsCsv(text, 'gifts.csv', (problem) => problems.push(problem)), problems }
}

test('columns in any order, type and group left out, comments, quotes and leading zeros', () => {
  expect(read('label,gift_id\n"火箭, 大",0101\n# all others\n\n"a ""b""",9223372036854775807\n')).toEqual({
    labels: [
      { giftType: 'prop', giftId: '101', label: '火箭, 大', group: null },
      { giftType: 'prop', giftId: '9223372036854775807', label: 'a "b"', group: null },
    ],
    problems: [],
  })
  expect(read('gift_type,gift_id,label,gift_group\nCash,27,Reward,money\nprop,101,,\n').labels).toEqual([
    { giftType: 'cash', giftId: '27', label: 'Reward', group: 'money' },
    { giftType: 'prop', giftId: '101', label: null, group: null },
  ])
})

test.each([
  ['', 'gifts.csv is empty; it should have the header gift_type,gift_id,label,gift_group'],
  ['gift_id,name\n', 'gifts.csv has the column "name"; it should have each of'],
  ['gift_id,gift_id,label\n', 'gifts.csv has the column "gift_id"'],
  ['gift_type\n', 'gifts.csv lacks the column gift_id and label'],
  ['gift_id,label\n1\n', 'gifts.csv line 2: there are 1 cells; it should have 2'],
  ['gift_id,label\n1,a\nx,b\n', 'gifts.csv line 3: gift_id is "x"; it should be a whole number'],
  ['gift_id,label\n9223372036854775808,a\n', 'line 2: gift_id is "9223372036854775808"'],
  ['gift_type,gift_id,label\ncoin,1,a\n', 'gifts.csv line 2: gift_type is "coin"; it should be cash, prop or empty'],
  ['gift_id,label\n1,a\n01,b\n', 'gifts.csv line 3: prop gift 1 is there twice, first on line 2'],
  ['gift_id,label,gift_group\n1,,fun\n', 'line 2: the group "fun" has no label beside it'],
  ['gift_id,label\n1,"a\n', 'gifts.csv is not CSV'],
])('%j is refused', (text, problem) => {
  expect(read(text).problems.join('\n')).toContain(problem)
})
