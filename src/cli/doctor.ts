import type { Report } from '../app/doctor/check.ts'
import { checkDatabase, confirmSource } from '../app/doctor/check-database.ts'
import { checkService } from '../app/doctor/check-service.ts'
import { readServiceAndDatabase, readSettings } from '../config.ts'
import { wrongUse } from '../core/errors.ts'
import { checkSettings } from './check-settings.ts'
import { defineCommand } from './usage.ts'

const signs = { ok: '✓', failed: '✗', warning: '!', skipped: '–' } as const
const NAME_WIDTH = 20

export const doctor = defineCommand(
  {
    about: `Checks everything that a sync needs and says how to fix it: settings, service, token, a small call on each
endpoint, clock, database. It changes nothing, and shows no secret.

  ✓ good   ✗ wrong   ! worth a look   – not checked`,
    flags: {
      'confirm-source':
        'confirms that the same account has moved to LIVEHOUSE_BASE_URL or LIVEHOUSE_APP_ID; checks nothing',
    },
    notes: 'Exit codes: 0 no ✗, 1 at least one.',
    examples: `livehouse doctor
livehouse doctor --confirm-source`,
  },
  ({ values }) => values,
  async (context, values) => {
    if (values['confirm-source']) {
      const { service, database } = readSettings(context.environment, readServiceAndDatabase)
      const changes = await confirmSource(context, database, service)
      if (changes === undefined) throw wrongUse('--confirm-source: no run has claimed this database yet')
      const changed = changes.length === 0 ? 'nothing has changed' : changes.join('; ')
      context.print(`The database holds the records of ${service.baseUrl}: ${changed}.`)
      return 0
    }
    let code = 0
    const report: Report = (name, result, finding, repair) => {
      if (result === 'failed') code = 1
      context.print(`${signs[result]} ${name.padEnd(NAME_WIDTH)} ${finding}`)
      if (repair !== undefined) context.print(`${' '.repeat(NAME_WIDTH + 3)}→ ${repair}`)
    }
    const { service, database, channels } = checkSettings(context.environment, report)
    if (service !== undefined) await checkService(context, service, database, channels ?? [], report)
    if (database !== undefined) await checkDatabase(context, database, service, report)
    return code
  },
)
