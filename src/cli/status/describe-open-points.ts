import { formatWallTime, type WallTime } from '../../core/wall-clock.ts'
import type { OpenPoints } from '../../state/read-open-points.ts'

/** What is not covered or not proven, and how it is mended; nothing where all is well. */
export function describeOpenPoints({ gaps, gapCount, shortfalls, shortfallCount }: OpenPoints): string[] {
  return [
    ...shortfalls.map(({ stream, partition, proof, reason }) => `✗ ${stream} ${partition}: ${proof}: ${reason ?? '–'}`),
    ...more(shortfallCount - shortfalls.length),
    ...gaps.map(({ stream, partition, window: { from, to } }) => {
      return `✗ ${stream} ${partition}: not covered from ${minute(from)} to ${minute(to)}`
    }),
    ...more(gapCount - gaps.length),
    ...(gapCount + shortfallCount === 0
      ? []
      : ['The next livehouse sync reads all of this; livehouse backfill --only-gaps fills a range at once.', '']),
  ]
}

function more(count: number): string[] {
  return count > 0 ? [`  … and ${count} more; livehouse ledger shows them`] : []
}

function minute(time: WallTime): string {
  return formatWallTime(time).slice(0, 16)
}
