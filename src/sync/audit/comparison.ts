import type { ListRequest } from '../../core/page.ts'
import type { Partition, Place, Proof, Window } from '../../core/slice.ts'
import type { Stream } from '../../core/stream.ts'
import { formatWallMinute } from '../../core/wall-clock.ts'
import type { OpenReading } from '../../ledger/open-readings.ts'
import type { Acceptance } from '../../ledger/slices/acceptances.ts'
import { type CallMeter, MIN_ROWS } from '../slice-reading.ts'
import type { RunDeps } from '../slice-work.ts'

/**
 * How the warehouse compares with the source in one partition. `equal`: the counts are equal, or only changes since the
 * last reading differ. `different`: the warehouse does not hold what the ledger claims. `accepted`: the source delivers
 * fewer rows than its total, and an operator has accepted that. `moving`: the list moved while it was compared.
 * `unverifiable`: there is nothing to compare with, or counts cannot show it. `unread`: nothing is covered.
 */
type AuditVerdict = 'equal' | 'different' | 'accepted' | 'moving' | 'unverifiable' | 'unread' | 'failed'

/** A difference between source and warehouse; its window is in whole minutes of the service's wall clock. */
export type Difference = { readonly window: Window | undefined } & (
  | {
      /** `missing`: rows at the source that the warehouse lacks; `surplus`: the reverse. */
      readonly kind: 'missing' | 'surplus'
      readonly rows: number
      readonly keys: readonly string[]
    }
  /** Only the count differs: the source has this many rows more, or fewer if negative. */
  | { readonly kind: 'count'; readonly rows: number }
  /** The source's total exceeds the rows that it delivers, even in repeated readings. */
  | { readonly kind: 'withheld'; readonly rows: number }
  /** An earlier audit found a difference here, and the range has not been read again since. */
  | { readonly kind: 'reopened'; readonly rows: 0 }
  /** A part kept moving while it was read, although it is old, so it was not compared. */
  | { readonly kind: 'restless'; readonly rows: 0 }
)

/** The result of comparing a partition, or a part of one. */
export interface Comparison {
  readonly verdict: AuditVerdict
  /** The range that was compared; undefined for a whole list, and if nothing was compared. */
  readonly window: Window | undefined
  /** The number of rows at the source; undefined if nothing was compared. */
  readonly sourceRows: number | undefined
  /** Rows and quarantined items of the warehouse. */
  readonly warehouseRows: number | undefined
  readonly quarantinedRows: number
  readonly differences: readonly Difference[]
  /** Other findings, one sentence each. */
  readonly notes: readonly string[]
  /** Whether the source has a row; missing unless the whole list was read. */
  readonly hasKey?: (key: string) => boolean
}

/** The result if nothing was compared. */
export const noComparison: Comparison = {
  verdict: 'unread',
  window: undefined,
  sourceRows: undefined,
  warehouseRows: undefined,
  quarantinedRows: 0,
  differences: [],
  notes: [],
}

/** A partition to compare. */
export interface AuditTask {
  readonly stream: Stream
  readonly partition: Partition
  /** The covered parts of the requested range, oldest first; undefined for a list without a time filter. */
  readonly covered: readonly Window[] | undefined
  /** The parts that should be covered by now and are not. */
  readonly uncovered: readonly Window[]
  readonly isLeftOut: boolean
  readonly accepted: readonly OpenReading[]
  readonly acceptances: readonly Pick<Acceptance, 'acceptanceId' | 'missingRows'>[]
}

export interface PartitionAudit extends Comparison, Place {
  /** The ranges that the next sync reads again because of the differences. */
  readonly reopened: readonly Window[]
  readonly calls: number
  readonly retries: number
  /** Why it failed; undefined if it did not fail, or did not begin. */
  readonly error: unknown
}

/** As which proof a verdict counts in the results of a run; undefined if it does not count. */
export const proofOf: Readonly<Record<AuditVerdict, Proof | undefined>> = {
  equal: 'verified',
  different: 'short',
  accepted: 'accepted',
  moving: 'moving',
  unverifiable: 'unverifiable',
  unread: undefined,
  failed: 'failed',
}

/** The number of rows in differences. */
export function sumOfRows(differences: readonly Difference[]): number {
  return differences.reduce((sum, { rows }) => sum + Math.abs(rows), 0)
}

/** Requests a small page for the source's total; for a list without a total, counts the rows of page 1. */
export async function askTotal(list: ListRequest, deps: RunDeps, { onAttempt }: CallMeter): Promise<number> {
  const { isCounted, pageSize } = list.stream
  const request = { list, page: 1, pageSize: isCounted ? MIN_ROWS : pageSize }
  const { total, items } = await deps.fetchPage(request, { signal: deps.signal, onAttempt })
  return total ?? items.length
}

/** Merges the comparisons of parts into one of the whole partition. */
export function mergeComparisons(parts: readonly Comparison[]): Comparison {
  const [first, last] = [parts[0], parts.at(-1)]
  if (first === undefined || last === undefined) return noComparison
  const sum = (rows: readonly (number | undefined)[]) => rows.reduce<number>((total, each) => total + (each ?? 0), 0)
  const verdict = (['different', 'moving', 'unverifiable'] as const).find((each) =>
    parts.some((part) => part.verdict === each),
  )
  return {
    verdict: verdict ?? 'equal',
    window: first.window && last.window && { from: first.window.from, to: last.window.to },
    sourceRows: sum(parts.map(({ sourceRows }) => sourceRows)),
    warehouseRows: sum(parts.map(({ warehouseRows }) => warehouseRows)),
    quarantinedRows: sum(parts.map(({ quarantinedRows }) => quarantinedRows)),
    differences: parts.flatMap(({ differences }) => differences),
    notes: [...new Set(parts.flatMap((part) => part.notes))],
  }
}

const KEYS_SHOWN = 5

/** Describes a difference in one sentence for logs and the record of the run, without values, which may be personal. */
export function describeDifference(difference: Difference, keyColumn: string): string {
  const { window } = difference
  const where = window === undefined ? '' : ` from ${formatWallMinute(window.from)} to ${formatWallMinute(window.to)}`
  return `${whatDiffers(difference, keyColumn)}${where}`
}

function whatDiffers(difference: Difference, keyColumn: string): string {
  const { kind, rows } = difference
  const count = `${Math.abs(rows)} ${Math.abs(rows) === 1 ? 'row' : 'rows'}`
  switch (kind) {
    case 'missing':
    case 'surplus': {
      const keys = difference.keys.slice(0, KEYS_SHOWN)
      const more = rows > keys.length ? ` and ${rows - keys.length} more` : ''
      const what = kind === 'missing' ? 'missing from the warehouse' : 'not at the source'
      const side = kind === 'missing' ? 'source' : 'warehouse'
      return `${count} of the ${side} ${rows === 1 ? 'is' : 'are'} ${what} (${keyColumn} ${keys.join(', ')}${more})`
    }
    case 'count':
      return `the ${rows > 0 ? 'source' : 'warehouse'} has ${count} more than the ${rows > 0 ? 'warehouse' : 'source'}`
    case 'reopened':
      return 'an earlier audit found a difference, and it has not been read again since (livehouse sync)'
    case 'restless':
      return 'a part did not come to rest while it was read, so it was not compared'
    case 'withheld':
      return `the source says that it has ${count} more than it delivers`
  }
}

/**
 * Whether another reading repairs a difference. It does not if the warehouse has too many rows of a stream that marks
 * none as removed, if the source withholds rows, or if a part kept moving.
 */
export function isRepairedByReading(difference: Difference, { marksRemoved }: Pick<Stream, 'marksRemoved'>): boolean {
  const isTooMany = difference.kind === 'surplus' || (difference.kind === 'count' && difference.rows < 0)
  return !['withheld', 'restless'].includes(difference.kind) && (!isTooMany || marksRemoved)
}
