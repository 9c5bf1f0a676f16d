import { configuredUrl } from '../app/open-database.ts'
import { readDatabaseSettings, readServiceTimeZone, readSettings } from '../config.ts'
import { readInteger } from './flags.ts'
import { defineCommand } from './usage.ts'

export const mcp = defineCommand(
  {
    about: `Serves the views of livehouse_bi to an assistant over the Model Context Protocol, on standard input and
output, until the input ends: views, measures and one SELECT at a time as livehouse_analyst, which writes nothing and
sees personal data masked. Each answer says how complete the data are. Give DATABASE_URL a login that is granted
livehouse_analyst and nothing else. A login that may create roles, like that of the embedded PostgreSQL, creates such a
login for each statement and drops it afterwards; any other is refused.`,
    flags: {
      'max-rows': ['N', 'rows per answer, 1 to 10000 (default: 1000); an answer has 1 MiB at most'],
      timeout: ['SECONDS', 'how long a statement may take, 1 to 3600 (default: 30)'],
    },
    notes: 'Exit codes: 0 the input has ended, 1 the database cannot be read as an analyst, 2 wrong use.',
    examples: `livehouse mcp
DATABASE_URL_FILE=/run/secrets/analyst livehouse mcp --max-rows 200 --timeout 60`,
  },
  ({ values: { 'max-rows': rows, timeout } }, refuse) => ({
    maxRows: readInteger('--max-rows', rows, refuse, 10_000) ?? 1000,
    timeoutMs: 1000 * (readInteger('--timeout', timeout, refuse, 3600) ?? 30),
  }),
  async (context, limits) => {
    const { database, timeZone } = readSettings(context.environment, (source) => ({
      database: readDatabaseSettings(source),
      timeZone: readServiceTimeZone(source),
    }))
    const url = await configuredUrl(context, database)
    const { serveViews } = await import('../app/mcp/serve-views.ts')
    await serveViews(context, { ...limits, url, timeZone })
    return 0
  },
)
