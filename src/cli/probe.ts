import { openWarehouse } from '../app/open-warehouse.ts'
import { outcomeObject } from '../app/outcome.ts'
import { runProbe } from '../app/run-probe.ts'
import { readDatabaseSettings, readServiceSettings, readSettings } from '../config.ts'
import { type KnownFact, readSourceFacts } from '../ledger/source.ts'
import { exitCodeOfStatus } from './failure.ts'
import { minuteIn, printResult, snakeCased } from './format.ts'
import { defineCommand } from './usage.ts'

/** `livehouse probe`: what the spec leaves open. */
export const probe = defineCommand(
  {
    verb: 'probe',
    about: `Finds out what the service's documents leave open and a setting depends on: where the manager lists read
their parameters (LIVEHOUSE_LIST_PARAMS). Makes 4 calls at most, all of them reading. The findings are kept in
livehouse_ops.source_facts; no row ever depends on them.`,
    flags: {
      json: 'prints one JSON object, that of a run with "facts"',
    },
    notes: 'Exit codes: 0 asked, 1 nothing could be done, 2 wrong use, 3 an endpoint gave no answer.',
    examples: `livehouse probe
livehouse probe --json | jq -r '.facts[] | select(.answer == null) | .topic'`,
  },
  ({ values }) => values,
  async (context, values) => {
    const { service, database } = readSettings(context.environment, (source) => ({
      service: readServiceSettings(source),
      database: readDatabaseSettings(source),
    }))
    await using db = await openWarehouse(context, { settings: database, source: service })
    const outcome = await runProbe(context, { service, db })
    const facts = await readSourceFacts(db)
    const calls = Object.values(outcome.streams).reduce((sum, { counts }) => sum + counts.calls, 0)
    printResult(context, values.json, { ...outcomeObject(outcome), facts: facts.map(snakeCased) }, [
      ...describeFacts(facts, new Date(outcome.startedAt), service.timeZone),
      ...outcome.errors.map(({ message }) => `✗ ${message}`),
      `${outcome.status}: ${calls} calls; kept in livehouse_ops.source_facts`,
    ])
    return exitCodeOfStatus(outcome.status)
  },
)

const NAME_WIDTH = 20

/** What is known of the service, for a person: a line an answer with its evidence below, those that are unknown last. */
function describeFacts(facts: readonly KnownFact[], since: Date, timeZone: string): string[] {
  const describe = (fact: KnownFact): string[] => {
    const sign = fact.answer === null ? '–' : '✓'
    const before = fact.foundAt < since ? ` (found ${minuteIn(timeZone)(fact.foundAt)})` : ''
    return [
      `${sign} ${fact.subject.padEnd(NAME_WIDTH)} where the parameters are read: ${fact.answer ?? 'unknown'}${before}`,
      `${' '.repeat(NAME_WIDTH + 3)}${fact.evidence}`,
    ]
  }
  const known = facts.filter(({ answer }) => answer !== null)
  const unknown = facts.filter(({ answer }) => answer === null)
  return [...known, ...unknown].flatMap(describe)
}
