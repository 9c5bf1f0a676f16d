import { type Partition, partitionKey } from '../../core/slice.ts'
import type { Stream } from '../../core/stream.ts'
import { formatWallDate, wallTimeAt } from '../../core/wall-clock.ts'
import { readEarlier, readMissedRows } from '../../ledger/earlier-readings.ts'
import { readQuarantined, type UnresolvedItem } from '../../ledger/quarantine.ts'
import { readLastReading } from '../../ledger/slices.ts'
import { countHeld } from '../../store/table-part.ts'
import type { CallMeter, RunDeps } from '../slice-work.ts'
import { auditRange, compareByReading } from './audit-range.ts'
import { compareRange, hasTimes, type RangeComparison } from './compare-range.ts'
import { openHoldings } from './holdings.ts'
import {
  askTotal,
  type AuditTask,
  type Comparison,
  type Difference,
  mergeComparisons,
  nothingCompared,
} from './partition-audit.ts'

/** Compares one partition in the cheapest way that its stream allows. */
export async function auditPartition(task: AuditTask, deps: RunDeps, meter: CallMeter): Promise<Comparison> {
  const { stream, partition, covered } = task
  if (covered === undefined) return await auditList(stream, partition, deps, meter)
  const isWhole = !task.hasRange && covered.length === 1
  const holdings = await openHoldings(deps.db, stream, partition, deps.timeZone)
  const parts: Comparison[] = []
  for (const window of covered)
    parts.push(
      stream.isCounted
        ? await auditRange(window, { audit: { stream, partition, isWhole }, holdings, deps, meter })
        : await compareByReading({ stream, partition }, window, holdings, deps, meter),
    )
  const { notes, ...merged } = mergeComparisons(parts)
  const gaps = `${parts.length - 1} gaps between are not covered, so nothing is claimed of them`
  return { ...merged, notes: parts.length > 1 ? [gaps, ...notes] : notes }
}

/** A difference of more rows is named by its count alone. */
const MOST_NAMED = 10_000

/**
 * Compares a list without a time filter: one call for its total. Where that differs, the list is read once and compared row by
 * row, with in mind that it may have moved on since the last reading.
 */
async function auditList(stream: Stream, partition: Partition, deps: RunDeps, meter: CallMeter): Promise<Comparison> {
  const { db, timeZone } = deps
  const place = partitionKey(partition)
  const [readAt] = await readLastReading(db, stream.name, place, [undefined])
  const today = formatWallDate(wallTimeAt(deps.clock.now(), timeZone))
  const isDaily = Object.values(stream.columns).some(({ source }) => source.kind === 'serviceDay')
  if (readAt === undefined) return nothingCompared
  const readOn = formatWallDate(wallTimeAt(readAt.getTime(), timeZone))
  if (isDaily && readOn !== today)
    return { ...nothingCompared, verdict: 'unverifiable', notes: [`not comparable: the last snapshot is of ${readOn}`] }

  const items = await readQuarantined(db, stream.name, place)
  const ofToday = ({ lastSeenAt }: UnresolvedItem) =>
    !isDaily || formatWallDate(wallTimeAt(lastSeenAt.getTime(), timeZone)) === today
  const day = isDaily ? { serviceDay: today } : {}
  const quarantinedRows = items.filter(ofToday).length
  const held = await countHeld(db, { stream, partition, window: undefined, timeZone, ...day })
  const warehouseRows = held + quarantinedRows
  const sourceRows = await askTotal({ stream, partition }, deps, meter)
  const counted = { ...nothingCompared, sourceRows, warehouseRows, quarantinedRows }
  // Where rows are kept that are gone from the source, they would stand in for others that are missing.
  const isCountEnough = stream.marksRemoved || isDaily
  if (sourceRows === warehouseRows && isCountEnough) return { ...counted, verdict: 'equal' }

  const rows = (sourceRows ?? 0) - warehouseRows
  if (Math.abs(rows) > MOST_NAMED)
    return { ...counted, verdict: 'different', differences: [{ kind: 'count', rows, window: undefined }] }

  const quarantined = new Set(items.map(({ hash }) => hash))
  const knownRows = hasTimes(stream) ? undefined : (await readEarlier(db, stream, partition, true)).lastWalk
  const range = { stream, partition, window: undefined, quarantined, knownRows, ...day }
  const found = await compareRange(range, deps, meter)
  const known = await readMissedRows(db, stream.name, place)
  const { differences, notes } = explainSurplus(stream, found, known)
  const verdict = differences.length > 0 ? 'different' : found.hasMoved ? 'moving' : 'equal'
  return { ...counted, verdict, differences, notes, hasKey: found.hasKey }
}

/** Rows that are gone from the source are no fault where they are kept on purpose, or where the last reading has missed them already. */
function explainSurplus(
  { marksRemoved }: Stream,
  { differences, notes }: RangeComparison,
  missed: number,
): { readonly differences: readonly Difference[]; readonly notes: readonly string[] } {
  const surplus = differences.find(({ kind }) => kind === 'surplus')
  if (surplus?.kind !== 'surplus') return { differences, notes }
  const others = differences.filter((each) => each !== surplus)
  if (!marksRemoved) {
    return { differences: others, notes: [...notes, `no longer at the source, and kept: ${surplus.rows}`] }
  }
  if (surplus.rows > missed) return { differences, notes }
  const note = `no longer at the source, to be marked as removed by the next proven reading: ${surplus.rows}`
  return { differences: others, notes: [...notes, note] }
}
