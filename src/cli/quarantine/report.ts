import { withoutPhones } from '../../core/printable.ts'
import type { RetryCounts, RetryResult } from '../../pipeline/retry-quarantine.ts'
import type { QuarantineGroup } from '../../state/read-quarantine.ts'
import { formatTable } from '../table.ts'

/** More names say no more to a person. */
const MOST_PARTITIONS = 3

/** What is in quarantine, for a person: a paragraph a stream and reason. */
export function describeGroups(groups: readonly QuarantineGroup[]): string[] {
  if (groups.length === 0) return ['nothing is in quarantine']
  return groups.flatMap(
    ({ stream, reason, items, unresolved, partitions, firstSeenAt, lastSeenAt, ...rest }, index) => {
      const resolved = items === unresolved ? '' : ` (${items - unresolved} of them resolved)`
      const more = partitions.length - MOST_PARTITIONS
      const places = [...partitions.slice(0, MOST_PARTITIONS), ...(more > 0 ? [`${more} more`] : [])].join(', ')
      return [
        ...(index > 0 ? [''] : []),
        `${stream}: ${items} ${items === 1 ? 'item' : 'items'}${resolved} of ${places}`,
        `  reason      ${oneLine(reason)}`,
        `  first seen  ${minuteOf(firstSeenAt)}, last ${minuteOf(lastSeenAt)}`,
        `  sample      ${withoutPhones(oneLine(rest.sample))}${rest.isSampleWhole ? '' : '…'}`,
      ]
    },
  )
}

export function groupsJson(groups: readonly QuarantineGroup[]): string {
  const list = groups.map((group) => ({
    stream: group.stream,
    reason: group.reason,
    items: group.items,
    unresolved: group.unresolved,
    partitions: group.partitions,
    first_seen_at: group.firstSeenAt.toISOString(),
    last_seen_at: group.lastSeenAt.toISOString(),
    sample: group.isSampleWhole ? group.sample : `${group.sample}…`,
  }))
  return JSON.stringify({ groups: list })
}

/** What a retry did, for a person: a line a stream, and what the next sync reads again. */
export function describeRetry({ streams, readAgain }: RetryResult): string[] {
  if (streams.size === 0) return ['nothing to retry: no item is unreadable']
  const header = ['stream', 'items', 'inserted', 'updated', 'superseded', 'read again', 'unreadable']
  const rows = [...streams].map(([stream, counts]) => [stream, ...Object.values(ofJson(counts))])
  const unreadable = [...streams.values()].reduce((sum, counts) => sum + counts.unreadable, 0)
  return [
    ...formatTable(header, rows),
    ...readAgain.map(({ stream, partition }) => `${stream} ${partition}: read again with the next sync`),
    ...(unreadable > 0 ? [`${unreadable} still unreadable: livehouse quarantine list shows why`] : []),
  ]
}

export function retryJson({ streams, readAgain }: RetryResult): string {
  const byStream = Object.fromEntries([...streams].map(([stream, counts]) => [stream, ofJson(counts)]))
  return JSON.stringify({ streams: byStream, read_again: readAgain })
}

function ofJson({ items, inserted, updated, superseded, readAgain, unreadable }: RetryCounts) {
  return { items, inserted, updated, superseded, read_again: readAgain, unreadable }
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ')
}

function minuteOf(at: Date): string {
  return `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`
}
