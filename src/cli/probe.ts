import { openWarehouse } from '../app/open-warehouse.ts'
import { runProbe } from '../app/run-probe.ts'
import { readServiceAndDatabase, readSettings } from '../config.ts'
import { exitCodes } from './exit-codes.ts'
import { formatCount, formatMinuteIn } from './format.ts'
import { defineCommand } from './usage.ts'

const NAME_WIDTH = 20

export const probe = defineCommand(
  {
    about: `Finds out what the API specification leaves open but a setting needs: where the manager lists read their
parameters (LIVEHOUSE_LIST_PARAMS). Makes at most 4 calls, which only read. The findings are kept in
livehouse_ops.source_facts; no row ever depends on them.`,
    flags: {},
    notes: 'Exit codes: 0 asked, 1 nothing could be done, 2 wrong use, 3 an endpoint gave no answer.',
    examples: 'livehouse probe',
  },
  () => undefined,
  async (context) => {
    const { service, database } = readSettings(context.environment, readServiceAndDatabase)
    await using db = await openWarehouse(context, database, service)
    const outcome = await runProbe(context, { service, database }, db)
    const minute = formatMinuteIn(service.timeZone)
    for (const { answer, subject, foundAt, evidence } of outcome.facts) {
      const before = foundAt < new Date(outcome.startedAt) ? ` (found ${minute(foundAt)})` : ''
      const found = `where the parameters are read: ${answer ?? 'unknown'}${before}`
      context.print(`${answer === null ? '–' : '✓'} ${subject.padEnd(NAME_WIDTH)} ${found}`)
      context.print(`${' '.repeat(NAME_WIDTH + 3)}${evidence}`)
    }
    for (const { message } of outcome.errors) context.print(`✗ ${message}`)
    const calls = Object.values(outcome.streams).reduce((sum, { counts }) => sum + counts.calls, 0)
    context.print(`${outcome.status}: ${formatCount(calls, 'call')}; kept in livehouse_ops.source_facts`)
    return exitCodes[outcome.status]
  },
)
