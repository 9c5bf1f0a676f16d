import { expect, test } from 'vitest'
import { defineCommand } from '../../src/cli/usage.ts'
import { runVerb } from '../helpers/run-verb.ts'

const backfill = defineCommand(
  {
    about: 'Reads a range again.',
    actions: { up: 'begins', 'stay up': 'goes on', down: 'ends' },
    defaultAction: 'up',
    words: 'FILE',
    flags: {
      from: ['DATE', 'the first day'],
      'no-reopen': 'leaves the ledger as it is',
      json: 'prints JSON',
      all: ['', 'everything', 'down'],
    },
    notes: 'Exit codes: 0.',
    examples: 'livehouse backfill\nlivehouse backfill up',
  },
  (given, refuse) => {
    if (given.values.from?.split(' ').includes('never')) refuse('--from is never')
    return given
  },
  async ({ print }, { action, words, values }) => {
    print(JSON.stringify({ action, words, ...values }))
    return 0
  },
)

test.each([
  [[], { action: 'up', words: [] }],
  [['up', 'x'], { action: 'up', words: ['x'] }],
  [['stay', 'up', 'x'], { action: 'stay up', words: ['x'] }],
  [
    ['down', '--all', '--from=a b', '--json', '--no-reopen'],
    { action: 'down', words: [], from: 'a b', json: true, all: true, 'no-reopen': true },
  ],
  [['down', '--', '--all'], { action: 'down', words: ['--all'] }],
])('%j is read', async (argv, expected) => {
  const { printed, problems } = await runVerb(backfill, argv, {})
  expect(problems).toEqual([])
  expect(JSON.parse(printed.join())).toEqual({ json: false, all: false, 'no-reopen': false, ...expected })
})

test.each([
  [
    ['--form', 'x', 'up'],
    ['there is no --form; did you mean --from?', 'there is no action "x"; the actions are up, stay up, down'],
  ],
  [['--zzz=1'], ['there is no --zzz']],
  [['--constructor'], ['there is no --constructor']],
  [['-x'], ['there is no -x']],
  [['--from'], ['--from needs a value']],
  [['--from', '--json'], ['--from needs a value']],
  [['--json=1'], ['--json takes no value']],
  [['--from', 'a', '--from', 'b'], ['--from is given twice']],
  [['up', 'now', 'later'], ['there is no place for "later"']],
  [['--all'], ['--all does not belong to up; it belongs to down']],
  [['dow'], ['there is no action "dow"; did you mean down?']],
  [
    ['--from', 'never', '--zzz', 'up', 'a', 'b', '--all'],
    [
      'there is no --zzz',
      'there is no place for "b"',
      '--all does not belong to up; it belongs to down',
      '--from is never',
    ],
  ],
])('%j: every problem is told at once', async (argv, problems) => {
  const { error, problems: told } = await runVerb(backfill, argv, {})
  expect(told).toEqual(problems)
  expect(error).toMatchObject({ code: 'usage.invalid', message: 'wrong use' })
})

test('the help comes from the flags', () => {
  expect(
    backfill
      .help('backfill')
      .split('\n')
      .map((line) => line.trimEnd()),
  ).toEqual([
    'Usage: livehouse backfill [up | stay up | down] FILE [flags]',
    '',
    'Reads a range again.',
    '',
    'Arguments:',
    '  up             begins',
    '  stay up        goes on',
    '  down           ends',
    '',
    'Flags:',
    '  --from <DATE>  the first day',
    '  --no-reopen    leaves the ledger as it is',
    '  --json         prints JSON',
    '  --all          down: everything',
    '',
    'Exit codes: 0.',
    '',
    'Examples:',
    '  livehouse backfill',
    '  livehouse backfill up',
  ])
})
