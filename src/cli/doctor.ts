import { openAsItIs, refusePending } from '../app/open-database.ts'
import { readDatabaseSettings, readServiceSettings, readSettings } from '../config.ts'
import { moveSource } from '../ledger/source.ts'
import type { CliContext } from './command.ts'
import { checkDatabase } from './doctor/check-database.ts'
import { checkService } from './doctor/check-service.ts'
import { checkSettings } from './doctor/check-settings.ts'
import type { Check } from './doctor/check.ts'
import { exitCodeOfStatus } from './failure.ts'
import { defineCommand } from './usage.ts'
import { wrongUse } from './wrong-use.ts'

const signs: Readonly<Record<Check['result'], string>> = { ok: '✓', failed: '✗', warning: '!', skipped: '–' }
const NAME_WIDTH = 20

/** `livehouse doctor`: what is wrong, and how to repair it. */
export const doctor = defineCommand(
  {
    verb: 'doctor',
    about: `Checks what a sync needs and says how to repair it: settings, service, token, the smallest call on each
endpoint, clock, database. It changes nothing, and shows no secret.

  ✓ good   ✗ to be repaired   ! worth a look   – not checked`,
    flags: {
      json: 'prints one JSON object instead: {"status", "checks": [{"name", "result", "seen", "mend"}]}',
      'confirm-source':
        'says that the same account has moved to LIVEHOUSE_BASE_URL or LIVEHOUSE_APP_ID, and does nothing else',
    },
    notes: 'Exit codes: 0 no ✗, 1 at least one.',
    examples: `livehouse doctor
livehouse doctor --json | jq '.checks[] | select(.result == "failed")'
livehouse doctor --confirm-source`,
  },
  ({ values }, refuse) => {
    if (values.json && values['confirm-source']) refuse('--confirm-source is given without --json')
    return values
  },
  async (context, values) => {
    if (values['confirm-source']) return await confirmSource(context)
    const checks: Check[] = []
    const report = (check: Check): void => {
      checks.push(check)
      if (!values.json) for (const line of describe(check)) context.print(line)
    }
    const { service, database, channels } = checkSettings(context.environment, report)
    if (service !== undefined) await checkService(context, { service, database, channels: channels ?? [] }, report)
    if (database !== undefined) await checkDatabase(context, database, service, report)
    const status = checks.some(({ result }) => result === 'failed') ? 'failed' : 'ok'
    if (values.json) context.print(JSON.stringify({ status, checks }))
    return exitCodeOfStatus(status)
  },
)

function describe({ name, result, seen, mend }: Check): string[] {
  const line = `${signs[result]} ${name.padEnd(NAME_WIDTH)} ${seen}`
  return mend === null ? [line] : [line, `${' '.repeat(NAME_WIDTH + 3)}→ ${mend}`]
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
