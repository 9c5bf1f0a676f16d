import { formatWallTime, type WallTime } from '../../core/wall-clock.ts'
import type { OpenReading, OpenReadings } from '../../ledger/open-readings.ts'
import { streams } from '../../streams/registry.ts'

/** Gaps and shortfalls that are named one by one. */
const MOST_NAMED = 10

/** Those of one kind that are named. */
export function firstOf({ open }: Pick<OpenReadings, 'open'>, kind: OpenReading['kind']): readonly OpenReading[] {
  return open.filter((reading) => reading.kind === kind).slice(0, MOST_NAMED)
}

/** What is not covered or not proven, and how it is repaired; nothing where all is well. */
export function describeOpenPoints(found: Pick<OpenReadings, 'open' | 'openCounts'>): string[] {
  const [gaps, shortfalls] = [firstOf(found, 'gap'), firstOf(found, 'problem')]
  const { gap, problem } = found.openCounts
  return [
    ...shortfalls.map((reading) => `✗ ${placeOf(reading, '')}: ${reading.proof}: ${reading.reason ?? '–'}`),
    ...more(problem - shortfalls.length),
    ...gaps.map((reading) => `✗ ${placeOf(reading, ': not covered')}`),
    ...more(gap - gaps.length),
    ...(gap + problem === 0 ? [] : [...describeRepair([...gaps, ...shortfalls]), '']),
  ]
}

function placeOf({ stream, partition, window }: OpenReading, what: string): string {
  const range = window && ` from ${minute(window.from)} to ${minute(window.to)}`
  return `${stream} ${partition}${what}${range ?? ''}`
}

/** A stream that has to be named is not among those of the next sync. */
function describeRepair(found: readonly OpenReading[]): string[] {
  const shown = new Set(found.map(({ stream }) => stream))
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

function minute(time: WallTime): string {
  return formatWallTime(time).slice(0, 16)
}

function more(count: number): string[] {
  return count > 0 ? [`  … and ${count} more; livehouse ledger shows them`] : []
}
