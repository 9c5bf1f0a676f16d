import type { Row } from '../../core/column.ts'
import { noCounts } from '../../core/outcome.ts'
import type { BatchLoader } from '../batch-loader.ts'
import type { CallMeter } from '../call-meter.ts'
import { extractSlice } from '../extract-slice.ts'
import type { Extraction } from '../extraction.ts'
import { openReading } from '../open-reading.ts'
import type { RunDeps, Slice } from '../slice-work.ts'

/** A part of what was read, as a sync would have read it. */
export interface RangeReading {
  readonly slice: Slice
  readonly extraction: Extraction
}

/**
 * Reads a slice as a sync does, cut into parts where it is large, and lands nothing: its rows go to `take`, where a walk is
 * repeated more than once. @returns the readings of its parts
 */
export async function readRange(
  whole: Slice,
  deps: RunDeps,
  meter: CallMeter,
  take: (rows: readonly Row[]) => Promise<void>,
): Promise<readonly RangeReading[]> {
  const loader: BatchLoader = {
    add: take,
    flush: async () => {},
    finish: async () => {},
    settle: async () => {},
    counts: () => noCounts,
  }
  const left = [whole]
  const readings: RangeReading[] = []
  for (let slice = left.pop(); slice !== undefined; slice = left.pop()) {
    const reading = openReading(slice, deps, meter)
    const extracted = await extractSlice(slice, reading, deps, loader)
    if (extracted.kind === 'cut') {
      left.push(...extracted.parts)
      continue
    }
    const { extraction } = extracted
    await take(extraction.unproven ?? [])
    readings.push({ slice, extraction })
  }
  return readings
}
