import { parseExact } from '../api/json.ts'
import { openWarehouse } from '../app/open-warehouse.ts'
import { readDatabaseSettings, readSettings } from '../config.ts'
import { retryQuarantine } from '../pipeline/retry-quarantine.ts'
import { readQuarantine } from '../state/read-quarantine.ts'
import { allStreams } from '../streams/registry.ts'
import { itemReader } from '../transform/field.ts'
import { readStreams } from './flags.ts'
import { describeGroups, describeRetry, groupsJson, retryJson } from './quarantine/report.ts'
import { defineCommand } from './usage.ts'

/** Characters of a sample: enough to see what is wrong, little of a person. */
const SAMPLE_LENGTH = 80

/** `livehouse quarantine`: what could not be read, and another try. */
export const quarantine = defineCommand(
  {
    verb: 'quarantine',
    about: `Received items that could not become rows. They are kept with the reason, and none is dropped. Asks the database alone.

An item that a later proven reading of its whole list no longer brings is resolved by that.

Samples are personal data as they came: nicknames, phone numbers, addresses. list shows ${SAMPLE_LENGTH} characters at most.`,
    actions: {
      list:
        'what is still unreadable, by stream and reason: how many items, in which partitions, first and last seen (to the day), and ' +
        'one sample (the default)',
      retry:
        "puts them through today's transformers, after an update of livehouse, say. What can be read is loaded and resolved; a row " +
        'that the same run or a later one has written is not overwritten, nor one that is as fresh (of two items with one key the ' +
        'fresher has won). Gifts and signups have no id and cannot be loaded alone: what can be read now is read again with the ' +
        'next sync, which is told where',
    },
    defaultAction: 'list',
    flags: {
      stream: ['a,b', 'only this stream, or these'],
      all: ['', 'resolved items too', 'list'],
      raw: ['', 'the sample whole, however long', 'list'],
      json:
        'prints one JSON object instead: {"groups": [{"stream", "reason", "items", "unresolved", "partitions", "first_seen_at", ' +
        '"last_seen_at", "sample"}]} of list, {"streams": {NAME: {"items", "inserted", "updated", "superseded", "read_again", ' +
        '"unreadable"}}, "read_again": [{"stream", "partition"}]} of retry',
    },
    notes: 'Exit codes: 0 shown or retried, whatever is left, 1 the database cannot be reached, 2 wrong use.',
    examples: `livehouse quarantine
livehouse quarantine list --stream visitors --raw
livehouse quarantine retry
livehouse quarantine --json | jq '[.groups[].items] | add'`,
  },
  ({ action, values }, refuse) => ({ action, values, names: readStreams(values.stream, refuse, '--stream') }),
  async (context, { action, values, names }) => {
    const isJson = values.json
    const settings = readSettings(context.environment, readDatabaseSettings)
    await using db = await openWarehouse(context, { settings, source: undefined })
    if (action === 'list') {
      const sampleLength = values.raw ? undefined : SAMPLE_LENGTH
      const groups = await readQuarantine(db, { streams: names, includesResolved: values.all, sampleLength })
      for (const line of isJson ? [groupsJson(groups)] : describeGroups(groups)) context.print(line)
      return 0
    }
    // Before the first sync there is nothing in quarantine, and no zone.
    const source = await db.selectFrom('livehouse_ops.source').select('time_zone').executeTakeFirst()
    const { clock, signal } = context
    const deps = {
      db,
      streams: allStreams,
      openItemReader: itemReader,
      parse: parseExact,
      now: () => clock.now(),
      signal,
    }
    const result = await retryQuarantine({ ...deps, timeZone: source?.time_zone ?? 'UTC' }, names)
    for (const line of isJson ? [retryJson(result)] : describeRetry(result)) context.print(line)
    return 0
  },
)
