import { expect, test } from 'vitest'
import { defineCommand } from '../../src/cli/usage.ts'
import { livehouse } from '../helpers/command-line.ts'
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

/** Where nothing answers: a command that asked for anything would say so. */
const nowhere = {
  DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none',
  LIVEHOUSE_BASE_URL: 'http://127.0.0.1:9',
  LIVEHOUSE_API_TOKEN: 'tok-1234',
  LIVEHOUSE_CHANNELS: '1001',
}

test.each([
  ['accept --channel 9 --reason x', '--stream should be one stream'],
  ['accept --stream visitors,gifts --channel 9 --reason x', '--stream should be one stream'],
  ['accept --stream visitors --reason x', '--channel is missing'],
  ['accept --stream managers --channel 9 --reason x', 'belongs to the account'],
  ['accept --stream visitors --channel 9', '--reason is missing'],
  ['accept --stream visitors --channel 9 --reason=\t', '--reason is missing'],
  ['accept --stream visitors --channel 9 --reason x --days 0', '--days is "0"'],
  ['api', 'the actions are token, ticket, menu create, menu update'],
  [
    'api ticket --title=',
    '--title needs a value',
    '--scope is not',
    '--outerid is',
    '--hash-act-id is',
    '--client-ip is',
  ],
  ['api menu create', '--channel is not given'],
  ['api menu update --channel 9', '--menu-id is not given'],
  ['api menu update --channel 9 --menu-id 1 --rich-text', '--rich-text needs a value'],
  ['api menu create --channel 9 --vid 1.5', '--vid is "1.5"'],
  ['api menu create --channel 9 --type 5', '--type is "5"; it should be a whole number from 1 to 4'],
  ['api menu create --channel ../9', '--channel is "../9"; it should be letters'],
  ['api menu delete', 'there is no action "menu"; did you mean menu create?'],
  ['audit --from 2026-01-02 --to 2026-01-01', 'is not before'],
  ['audit --from yesterday', '--from is "yesterday"'],
  ['audit --streams views', 'there is no stream "views"'],
  ['audit --streams watch_records_v1', 'watch_records_v1 cannot be audited'],
  ['audit --channels 77', '"77" is not among LIVEHOUSE_CHANNELS'],
  ['backfill --from 2026-02-01 --to 2026-01-01', 'is not before'],
  ['backfill --from 2099-01-01 --to 2099-02-01', 'lies in the future'],
  ['backfill --from 2026-01-01 --to 2099-02-01', 'lies in the future'],
  ['backfill --to 2026-01-01', '--from is missing'],
  ['backfill --from 2026-01-01T10:00:30', 'it should be a date such as 2026-01-31, or a time in whole minutes'],
  ['backfill --from 2026-01-01 --streams visitors', 'visitors has no time filter (API 4.7)'],
  ['db copy', 'copy needs --to'],
  ['db copy --to mysql://u:hidden@h/d', '--to (not shown) should be a Postgres URL'],
  ['db dump', 'dump needs --file'],
  [`db dump --file ${import.meta.filename}`, 'is there already; name a new one'],
  ['db restore --file /nowhere/dump.sql', '--file /nowhere/dump.sql is not there'],
  ['db psql --database live', '--database is "live"; it should be livehouse or livehouse_demo'],
  ['dictionary --lang fr', '--lang is "fr"; it should be en or zh-CN'],
  ['forms publish', 'publish needs the id of a questionnaire'],
  ['forms clear q', 'clear needs the numbers of questions'],
  ['forms clear q x', 'QUESTION_NO is "x"; it should be a whole number'],
  ['forms publish q --undo', '--undo does not belong to publish'],
  ['labels', 'no action is given; the actions are export, import'],
  ['labels import', 'import needs a file'],
  ['labels import /nowhere/gifts.csv', '/nowhere/gifts.csv cannot be read (there is no such file)'],
  ['ledger forget', '--from is missing'],
  ['ledger forget --from 2026-01-01', '--to is missing'],
  ['ledger show --from 2099-01-01', 'is not before'],
  ['ledger show --to today', '--to is "today"'],
  ['ledger forget --from 2026-01-01 --to 2026-01-02 --channels 77', '"77" is not among LIVEHOUSE_CHANNELS'],
  ['quarantine --stream gift', '--stream: there is no stream "gift"; did you mean gifts?'],
  ['status --max-age=26', '--max-age is "26"; it should be a number of minutes, hours or days'],
  ['status --max-age=0h', '--max-age is "0h"; it should be a number of minutes, hours or days'],
  ['status --max-age=1.5h', '--max-age is "1.5h"; it should be a number of minutes, hours or days'],
  ['status --max-age=-1h', '--max-age is "-1h"; it should be a number of minutes, hours or days'],
  ['sync --until 6:00', '--until is "6:00"; it should be a time of day, written 06:00'],
  ['sync --until 24:00', '--until is "24:00"; it should be a time of day, written 06:00'],
])('livehouse %s is refused before anything is asked for', async (line, ...problems) => {
  const { code, err } = await livehouse(line.split(' '), nowhere)
  expect(code, err).toBe(2)
  for (const problem of problems) expect(err).toContain(problem)
  expect(err).not.toContain('hidden')
})
