import { openWarehouse } from '../app/open-warehouse.ts'
import { runRetry } from '../app/operator-actions.ts'
import { listQuarantine } from '../app/read-records.ts'
import { readDatabaseSettings, readSettings } from '../config.ts'
import { withoutPhones } from '../core/text.ts'
import { LIST_JSON_HELP, readStreams } from './flags.ts'
import { formatCount, formatMinuteIn, formatTable, printResult, toSnakeCase } from './format.ts'
import { defineCommand } from './usage.ts'

export const quarantine = defineCommand(
  {
    about: `Lists items that could not become rows, and why, or retries them. Needs only the database. Samples are
personal data.`,
    actions: {
      list: 'what is still unreadable, by stream and reason (the default)',
      retry: 'tries to read them with this version; the next sync reads gifts and signups again instead',
    },
    defaultAction: 'list',
    flags: { stream: ['a,b', 'only this stream, or these'], json: ['', LIST_JSON_HELP, 'list'] },
    notes: 'Exit codes: 0 shown or retried, whatever is left, 1 the database cannot be reached, 2 wrong use.',
    examples: `livehouse quarantine
livehouse quarantine list --stream visitors
livehouse quarantine --json | jq '[.groups[].items] | add'
livehouse quarantine retry`,
  },
  ({ action, values }, refuse) => ({
    action,
    isJson: values.json,
    names: readStreams(values.stream, refuse, '--stream')?.map(({ name }) => name),
  }),
  async (context, { action, isJson, names }) => {
    await using db = await openWarehouse(context, readSettings(context.environment, readDatabaseSettings))
    if (action === 'list') {
      const listing = await listQuarantine(db, names)
      const groups = listing.groups.map((group) => toSnakeCase({ ...group, sample: withoutPhones(group.sample) }))
      printResult(context, isJson, { groups }, describeGroups(listing))
    } else for (const line of describeRetry(await runRetry(context, db, names))) context.print(line)
    return 0
  },
)

/** The largest number of partitions to name. */
const MAX_PARTITIONS = 3

function describeGroups({ groups, timeZone, longestSample }: Awaited<ReturnType<typeof listQuarantine>>): string[] {
  const minuteOf = formatMinuteIn(timeZone)
  if (groups.length === 0) return ['nothing is in quarantine']
  return groups.flatMap(({ stream, reason, items, partitions, firstSeenAt, lastSeenAt, sample }, index) => {
    const more = partitions.length - MAX_PARTITIONS
    const places = [...partitions.slice(0, MAX_PARTITIONS), ...(more > 0 ? [`${more} more`] : [])].join(', ')
    return [
      ...(index > 0 ? [''] : []),
      `${stream}: ${formatCount(items, 'item')} of ${places}`,
      `  reason      ${oneLine(reason)}`,
      `  first seen  ${minuteOf(firstSeenAt)}, last ${minuteOf(lastSeenAt)}`,
      `  sample      ${withoutPhones(oneLine(sample))}${sample.length < longestSample ? '' : '…'}`,
    ]
  })
}

function describeRetry(recorded: Awaited<ReturnType<typeof runRetry>>): string[] {
  if ('error' in recorded) throw recorded.error
  const { streams, result } = recorded.outcome
  if (Object.keys(streams).length === 0) return ['nothing to retry: no item is unreadable']
  const header = ['stream', 'items', 'inserted', 'updated', 'unchanged', 'still unreadable']
  const rows = Object.entries(streams).map(([stream, { counts }]) => {
    const { extracted, inserted, updated, unchanged, quarantined } = counts
    return [stream, extracted, inserted, updated, unchanged, quarantined]
  })
  return [
    ...formatTable(header, rows),
    ...result.read_again.map(({ stream, partition }) => `${stream} ${partition}: read again with the next sync`),
  ]
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ')
}
