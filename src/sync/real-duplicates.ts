import type { Row } from '../core/column.ts'
import type { RejectedItem } from '../core/item.ts'
import type { Stream } from '../core/stream.ts'
import { duplicateItem } from '../ledger/known-duplicates.ts'
import { judgeWalk, type Verdict } from './judge-walk.ts'
import type { HeldRow, WalkSummary } from './walk.ts'

/**
 * Judges a walk and the one before it. Equal keys in a still list are real duplicates only when two walks in a row show the same
 * keys more than once with the same differing contents: a row that a moving list has shifted comes twice as it is, and one that
 * changes does not come the same way again.
 */
export function judgeWalks(summary: WalkSummary, previous: WalkSummary | undefined): Verdict {
  const verdict = judgeWalk(summary)
  const { totals, received, repeated } = summary
  const isStill = totals !== undefined && totals.smallest === totals.largest && received === totals.first
  if (verdict.proof !== 'moving' || !isStill || repeated.length > 0 || previous === undefined) return verdict
  const groups = contentsOf(summary)
  const isDiffering = groups.every((contents) => new Set(contents).size === contents.length)
  if (!isDiffering || JSON.stringify(groups) !== JSON.stringify(contentsOf(previous))) return verdict
  return { proof: 'verified', reason: undefined }
}

/** What came more than once, as sorted texts in an order of their own. */
function contentsOf({ held }: WalkSummary): readonly (readonly string[])[] {
  const groups = [...held].filter(([, rows]) => rows.length > 1).sort(([a], [b]) => (a < b ? -1 : 1))
  return groups.map(([, rows]) => rows.map(({ raw }) => raw).sort())
}

/** Of the rows held back, those that count: the freshest of each key, whatever the order in which they came. */
export function winnersOf(stream: Stream, held: WalkSummary['held']): readonly Row[] {
  return [...held.values()].flatMap((rows) => rank(stream, rows).slice(0, 1)).map(({ row }) => row)
}

/** The others, for quarantine. */
export function losersOf(stream: Stream, held: WalkSummary['held']): readonly RejectedItem[] {
  const path = keyField(stream)
  return [...held.values()].flatMap((rows) =>
    rank(stream, rows)
      .slice(1)
      .map(({ raw }) => duplicateItem(raw, path, rows.length)),
  )
}

/** The source field of the key. */
export function keyField({ key, columns }: Stream): string {
  const sources = key.map((name) => columns[name]?.source)
  return sources.find((source) => source?.kind === 'field')?.field ?? ''
}

function rank({ freshnessColumn }: Stream, rows: readonly HeldRow[]): readonly HeldRow[] {
  const freshness = ({ row, raw }: HeldRow) => [String(row[freshnessColumn ?? ''] ?? ''), raw].join('\u0000')
  return rows.toSorted((a, b) => (freshness(a) < freshness(b) ? 1 : -1))
}
