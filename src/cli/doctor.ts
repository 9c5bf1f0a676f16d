import { sendNotices } from '../app/alerts/deliver-notices.ts'
import { openAsItIs, openConfiguredDatabase, refusePending } from '../app/open-database.ts'
import { ALERT_TIMEOUT_MS } from '../app/report-causes.ts'
import { grantSql, readGrants } from '../bi/publish/read-grants.ts'
import { readDatabaseSettings, readProxies, readServiceSettings, readSettings } from '../config.ts'
import { readAlertSettings } from '../config/read-alerts.ts'
import { moveSource } from '../ledger/source.ts'
import { createWebhook } from '../service/webhook.ts'
import type { CliContext } from './command.ts'
import { checkDatabase } from './doctor/check-database.ts'
import { checkService } from './doctor/check-service.ts'
import { checkSettings } from './doctor/check-settings.ts'
import { type Check, passed, type ReportCheck, skipped } from './doctor/check.ts'
import { exitCodeOfStatus } from './failure.ts'
import { defineCommand } from './usage.ts'
import { wrongUse } from './wrong-use.ts'

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
      'confirm-source':
        'says that the service whose records the database holds has moved to LIVEHOUSE_BASE_URL, and does nothing else',
    },
    notes: 'Exit codes: 0 no ✗, 1 at least one.',
    examples: `livehouse doctor
livehouse doctor --json | jq '.checks[] | select(.result == "failed")'
livehouse doctor --grants > grants.sql
livehouse doctor --alert
livehouse doctor --confirm-source`,
  },
  ({ values }, refuse) => {
    if (values.json && values.grants) refuse('--grants prints SQL; it is given without --json')
    const alone = ['alert', 'grants', 'confirm-source'] as const
    const given = alone.filter((flag) => values[flag]).map((flag) => `--${flag}`)
    if (given.length > 1) refuse(`${given.join(' and ')} each do one thing alone; give one of them`)
    if (values.json && values['confirm-source']) refuse('--confirm-source is given without --json')
    return values
  },
  async (context, values) => {
    if (values.grants) return await printGrants(context)
    if (values['confirm-source']) return await confirmSource(context)
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

async function confirmSource(context: CliContext): Promise<number> {
  const { service, database } = readSettings(context.environment, (source) => ({
    service: readServiceSettings(source),
    database: readDatabaseSettings(source),
  }))
  await using opened = await openAsItIs(context, database)
  refusePending(opened)
  const before = opened.isMigrated ? await moveSource(opened.db, service) : undefined
  if (before === undefined) throw wrongUse('doctor', '--confirm-source: no run has claimed this database yet')
  context.print(`The database holds the records of ${service.baseUrl}, which was ${before} before.`)
  return 0
}

function describe({ name, result, seen, mend }: Check): string[] {
  const line = `${signs[result]} ${name.padEnd(NAME_WIDTH)} ${seen}`
  return mend === null ? [line] : [line, `${' '.repeat(NAME_WIDTH + 3)}→ ${mend}`]
}

/** Sends a test to whoever is told of trouble, and asks for the heartbeat once. */
async function checkAlert(context: CliContext, report: ReportCheck): Promise<void> {
  const { clock, log, signal, environment } = context
  const { alerts, proxies } = readSettings(environment, (source) => ({
    alerts: readAlertSettings(source),
    proxies: readProxies(source),
  }))
  await using webhook = createWebhook({ proxies, timeoutMs: ALERT_TIMEOUT_MS })
  const { webhook: url, format, heartbeatUrl } = alerts
  if (url === null) report(skipped('alerts', 'LIVEHOUSE_ALERT_WEBHOOK is not set: nobody is told of trouble'))
  else {
    const channel = { ...alerts, url, post: webhook.ask, clock, log }
    const notice = { event: 'raised', cause: { kind: 'test' }, at: new Date(clock.now()) } as const
    const failure = await sendNotices([notice], channel, signal)
    report(
      failure === undefined
        ? passed('alerts', `the receiver of LIVEHOUSE_ALERT_WEBHOOK has taken a test (${format})`)
        : { name: 'alerts', result: 'failed', seen: `not taken: ${failure.reason}`, mend: MEND },
    )
  }
  if (heartbeatUrl === null) {
    report(skipped('heartbeat', 'LIVEHOUSE_HEARTBEAT_URL is not set: nobody notices a process that is gone'))
    return
  }
  const answer = await webhook.ask({ url: heartbeatUrl, headers: {} }, signal)
  const seen = answer.status === undefined ? answer.failure : `status ${answer.status}`
  const isTaken = answer.status !== undefined && answer.status < 300
  report(
    isTaken
      ? passed('heartbeat', seen)
      : { name: 'heartbeat', result: 'failed', seen, mend: 'check LIVEHOUSE_HEARTBEAT_URL' },
  )
}

const MEND =
  'check LIVEHOUSE_ALERT_WEBHOOK, LIVEHOUSE_ALERT_FORMAT, and LIVEHOUSE_ALERT_SECRET or LIVEHOUSE_ALERT_KEYWORD where the robot asks for one'
