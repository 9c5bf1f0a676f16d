import { expect, test } from 'vitest'
import { livehouse } from '../helpers/command-line.ts'

test('the help is built from the flags', async () => {
  expect((await livehouse(['quarantine', '--help'])).out).toBe(`Usage: livehouse quarantine [list | retry] [flags]

Lists items that could not become rows, and why, or retries them. Needs only the database. Samples are personal data.

Arguments:
  list            what is still unreadable, by stream and reason (the default)
  retry           tries to read them with this version; the next sync reads gifts and signups again instead

Flags:
  --stream <a,b>  only this stream, or these
  --json          list: prints one JSON object instead

Exit codes: 0 shown or retried, whatever is left, 1 the database cannot be reached, 2 wrong use.

Examples:
  livehouse quarantine
  livehouse quarantine list --stream visitors
  livehouse quarantine --json | jq '[.groups[].items] | add'
  livehouse quarantine retry
`)
  const words = 'Usage: livehouse forms [list | publish | unpublish | clear] [QUESTION_ID] [QUESTION_NO]… [flags]\n'
  expect((await livehouse(['forms', '--help'])).out).toContain(words)
})

test.each([
  ['--help', 'Commands:\n', '\n  sync        brings every stream up to date\n'],
  ['-h', 'Commands:\n'],
  ['help sync --', 'Usage: livehouse sync'],
  ['sync --json -h', 'Usage: livehouse sync'],
  ['sync --help --nonsense', 'Usage: livehouse sync'],
])('%s prints help', async (line, ...texts) => {
  const { code, out, err } = await livehouse(line.split(' '))
  expect({ code, err }).toEqual({ code: 0, err: '' })
  for (const text of texts) expect(out).toContain(text)
})

/** Addresses where nothing answers, so a command that calls any of them reports that. */
const nowhere = {
  DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none',
  LIVEHOUSE_BASE_URL: 'http://127.0.0.1:9',
  LIVEHOUSE_API_TOKEN: 'tok-1234',
  LIVEHOUSE_CHANNELS: '1001',
}

test.each([
  ['', 'wrong use, see livehouse --help', 'no command is given'],
  ['stat', 'wrong use, see livehouse --help', 'there is no command "stat"; did you mean status?'],
  ['constructor --json', 'there is no command "constructor"\n'],
  ['accept --channel 9 --reason x', '--stream should be one stream'],
  ['accept --stream visitors,gifts --channel 9 --reason x', '--stream should be one stream'],
  ['accept --stream visitors --reason x', '--channel is missing'],
  ['accept --stream managers --channel 9 --reason x', 'belongs to the account'],
  ['accept --stream visitors --channel 9', '--reason is missing'],
  ['accept --stream visitors --channel 9 --reason=\t', '--reason is missing'],
  ['accept --stream visitors --channel 9 --reason x --days 0', '--days is "0"'],
  ['api', 'the actions are token, ticket, menu create, menu update'],
  ['api ticket --title=', '--title needs a value', '--scope is', '--outerid is', '--hash-act-id is', '--client-ip is'],
  ['api token', 'api: a setting is missing or wrong\n  LIVEHOUSE_APP_ID and LIVEHOUSE_APP_SECRET are not set'],
  ['api ticket --scope guest --outerid u --hash-act-id h --client-ip 203.0.113.7', 'LIVEHOUSE_APP_SECRET are not set'],
  ['api menu create', '--channel is not given'],
  ['api menu update --channel 9', '--menu-id is not given'],
  ['api menu update --channel 9 --menu-id 1 --rich-text', '--rich-text needs a value'],
  ['api menu create --channel 9 --vid 1.5', '--vid is "1.5"'],
  ['api menu create --channel 9 --type 5', '--type is "5"; it should be a whole number from 1 to 4'],
  ['api menu create --channel ../9', '--channel is "../9"; it should be letters'],
  ['api menu delete', 'there is no action "menu"; did you mean menu create?'],
  ['audit --streams watch_records_v1', 'watch_records_v1 cannot be audited'],
  ['audit --channels 77', '"77" is not among LIVEHOUSE_CHANNELS'],
  ['audit --from a --from b', '--from is given twice', '--from is "b"'],
  ['backfill --form x --zzz=1', 'there is no --form; did you mean --from?', 'no --zzz\n', 'unexpected argument "x"'],
  ['backfill --constructor -x', 'there is no --constructor\n', 'there is no -x\n', '--from is missing'],
  ['backfill --from 2026-02-01 --to 2026-01-01', 'is not before'],
  ['backfill --from 2026-01-01 --to 2099-02-01', 'lies in the future'],
  ['backfill --from 0999-01-01', '--from is "0999-01-01"'],
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
  ['ledger show --from 2099-01-01', 'is not before'],
  ['ledger show --to today', '--to is "today"'],
  ['ledger forget', 'needs --streams, --channels, --from or --to'],
  ['ledger forget --from 2026-01-01 --to 2026-01-02 --channels 77', '"77" is not among LIVEHOUSE_CHANNELS'],
  ['quarantine forget', 'there is no action "forget"; the actions are list, retry'],
  ['quarantine --stream gift', '--stream: there is no stream "gift"; did you mean gifts?'],
  ['status --max-age=26', '--max-age is "26"; it should be a number and s, m, h or d, such as'],
  ['status --max-age=0h', '--max-age is "0h"; it should be a number and s, m, h or d, such as'],
  ['capture --out=', '--out needs a value'],
  ['sync visitors', 'unexpected argument "visitors"; did you mean --streams visitors?'],
  ['sync -- --help', 'unexpected argument "--help"'],
  ['sync --until 6:00', '--until is "6:00"; it should be a time of day, written 06:00'],
  ['sync --until 24:00', '--until is "24:00"; it should be a time of day, written 06:00'],
])('livehouse %s is refused before anything is called', async (line, ...problems) => {
  const { code, err } = await livehouse(line.split(' '), nowhere)
  expect(code, err).toBe(2)
  for (const problem of problems) expect(err).toContain(problem)
  expect(err).not.toContain('hidden')
})
