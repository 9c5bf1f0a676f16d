import { formatWallTime, type WallTime } from '../../core/wall-clock.ts'
import type { OpenPoints } from '../../state/read-open-points.ts'
import { streams } from '../../streams/registry.ts'

/** What is not covered or not proven, and how it is mended; nothing where all is well. */
export function describeOpenPoints(open: OpenPoints): string[] {
  const { gaps, gapCount, shortfalls, shortfallCount } = open
  return [
    ...shortfalls.map(({ stream, partition, proof, reason }) => `✗ ${stream} ${partition}: ${proof}: ${reason ?? '–'}`),
    ...more(shortfallCount - shortfalls.length),
    ...gaps.map(({ stream, partition, window: { from, to } }) => {
      return `✗ ${stream} ${partition}: not covered from ${minute(from)} to ${minute(to)}`
    }),
    ...more(gapCount - gaps.length),
    ...(gapCount + shortfallCount === 0 ? [] : [...describeMend(open), '']),
  ]
}

/** A stream that has to be named is not among those of the next sync. */
function describeMend({ gaps, shortfalls }: OpenPoints): string[] {
  const shown = new Set([...gaps, ...shortfalls].map(({ stream }) => stream))
  const named = [...shown].filter((stream) => streams.every(({ name }) => name !== stream))
  const what = named.length === 0 ? 'all of this' : 'the rest of this'
  return [
    ...named.map(
      (stream) =>
        `${stream} is read only where it is named: by livehouse sync --streams ${stream}, or by the job v1-history.`,
    ),
    ...(named.length === shown.size
      ? []
      : [`The next livehouse sync reads ${what}; livehouse backfill --only-gaps fills a range at once.`]),
  ]
}

function more(count: number): string[] {
  return count > 0 ? [`  … and ${count} more; livehouse ledger shows them`] : []
}

function minute(time: WallTime): string {
  return formatWallTime(time).slice(0, 16)
}
