import { openConfiguredDatabase } from '../app/open-database.ts'
import { readDatabaseSettings, readSettings } from '../config.ts'
import { grantSql, readGrants } from '../bi/publish/read-grants.ts'
import type { CliContext } from './command.ts'
import { checkAlert } from './doctor/check-alert.ts'
import { checkDatabase } from './doctor/check-database.ts'
import { checkService } from './doctor/check-service.ts'
import { checkSettings } from './doctor/check-settings.ts'
import type { Check, ReportCheck } from './doctor/check.ts'
import { exitCodeOfStatus } from './failure.ts'
import { defineCommand } from './usage.ts'

const signs: Readonly<Record<Check['result'], string>> = { ok: '✓', failed: '✗', warning: '!', skipped: '–' }
const NAME_WIDTH = 20

/** `livehouse doctor`: what is wrong, and how to mend it. */
export const doctor = defineCommand(
  {
    verb: 'doctor',
    about: `Checks everything that a sync needs, also where something fails, and says how to mend it: the settings; whether the service
answers; its token; the smallest call on each endpoint that reads (none on version 1 of the watch records, which allows ten a day);
the clock; the database with its time zones, the rights, the schema and whose records it holds. It changes nothing; with
DATABASE_URL=embedded it starts that PostgreSQL. No secret is shown.

  ✓ good   ✗ to be mended   ! worth a look   – not checked`,
    flags: {
      json:
        'prints one JSON object instead: {"status": "ok" or "failed", "checks": [{"name", "result": "ok", "failed", "warning" or ' +
        '"skipped", "seen", "mend"}]}',
      grants:
        'prints the SQL, for a DBA, that gives the user of DATABASE_URL the rights that it lacks, and nothing else; asks the ' +
        'database alone',
      alert:
        'sends a test to LIVEHOUSE_ALERT_WEBHOOK, asks LIVEHOUSE_HEARTBEAT_URL once where it is set, and does nothing else',
    },
    notes: 'Exit codes: 0 no ✗, 1 at least one.',
    examples: `livehouse doctor
livehouse doctor --json | jq '.checks[] | select(.result == "failed")'
livehouse doctor --grants > grants.sql
livehouse doctor --alert`,
  },
  ({ values }, refuse) => {
    if (values.json && values.grants) refuse('--grants prints SQL; it is given without --json')
    if (values.alert && values.grants) refuse('--alert and --grants each do one thing alone; give one of them')
    return values
  },
  async (context, values) => {
    if (values.grants) return await printGrants(context)
    const checks: Check[] = []
    const report = (check: Check): void => {
      checks.push(check)
      if (!values.json) for (const line of describe(check)) context.print(line)
    }
    if (values.alert) await checkAlert(context, report)
    else await checkAll(context, report)
    const status = checks.some(({ result }) => result === 'failed') ? 'failed' : 'ok'
    if (values.json) context.print(JSON.stringify({ status, checks }))
    return exitCodeOfStatus(status)
  },
)

async function checkAll(context: CliContext, report: ReportCheck): Promise<void> {
  const { service, database, channels, ...settings } = checkSettings(context.environment)
  for (const check of settings.checks) report(check)
  if (service !== undefined) await checkService(context, { service, database, channels }, report)
  if (database !== undefined) await checkDatabase(context, database, service, report)
}

async function printGrants(context: CliContext): Promise<number> {
  await using db = await openConfiguredDatabase(context, readSettings(context.environment, readDatabaseSettings))
  for (const line of grantSql(await readGrants(db))) context.print(line)
  return 0
}

function describe({ name, result, seen, mend }: Check): string[] {
  const line = `${signs[result]} ${name.padEnd(NAME_WIDTH)} ${seen}`
  return mend === null ? [line] : [line, `${' '.repeat(NAME_WIDTH + 3)}→ ${mend}`]
}
