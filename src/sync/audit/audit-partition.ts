import type { Window } from '../../core/slice.ts'
import type { CallMeter } from '../call-meter.ts'
import type { RunDeps } from '../slice-work.ts'
import { auditList } from './audit-list.ts'
import { auditRanges } from './audit-ranges.ts'
import { compareRange } from './compare-range.ts'
import { openHoldings } from './holdings.ts'
import { type Comparison, nothingCompared } from './partition-audit.ts'
import type { AuditTask } from './plan-audit.ts'

/** Compares one partition in the cheapest way that its stream allows. */
export async function auditPartition(
  task: AuditTask,
  learnColumn: () => Promise<string | undefined>,
  deps: RunDeps,
  meter: CallMeter,
): Promise<Comparison> {
  const { stream, partition, covered } = task
  if (covered === undefined) return await auditList(stream, partition, deps, meter)
  if (stream.isCounted)
    return await auditRanges({ stream, partition, covered, isWhole: !task.hasRange, learnColumn }, deps, meter)
  return await auditByReading(task, covered, deps, meter)
}

/** A list without a total: every row of what is covered is read again. */
async function auditByReading(
  { stream, partition }: AuditTask,
  covered: readonly Window[],
  deps: RunDeps,
  meter: CallMeter,
): Promise<Comparison> {
  const [first, last] = [covered[0], covered.at(-1)]
  if (first === undefined || last === undefined) return nothingCompared
  const { quarantined, within, quarantinedWithin } = await openHoldings(deps.db, stream, partition, deps.timeZone)
  const column = stream.timeColumns[0] ?? ''
  const found = []
  let warehouseRows = 0
  let quarantinedRows = 0
  for (const window of covered) {
    found.push(await compareRange({ stream, partition, window, column, quarantined }, deps, meter))
    warehouseRows += await within(column, window)
    quarantinedRows += quarantinedWithin(column, window)
  }
  const differences = found.flatMap((each) => each.differences)
  const moved = found.some(({ hasMoved }) => hasMoved) ? 'moving' : 'equal'
  return {
    ...nothingCompared,
    verdict: differences.length > 0 ? 'different' : moved,
    window: { from: first.from, to: last.to },
    sourceRows: found.reduce((sum, each) => sum + each.found, 0) + quarantinedRows,
    warehouseRows,
    quarantinedRows,
    differences,
    notes: [...new Set(found.flatMap(({ notes }) => notes))],
  }
}
