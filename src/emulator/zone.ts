import { DAY, type WallTime, wallTimeAt } from '../core/wall-clock.ts'

/**
 * Turns readings of a zone's wall clock into instants, in seconds since 1970, by the rules of Postgres: of two instants with
 * one reading the later one (standard time), and a reading that daylight saving skips counts with the offset before it.
 */
export function createInstantReader(timeZone: string): (wallTime: WallTime) => number {
  const offsets = new Map<number, readonly [number, number]>()
  const offsetAt = (instant: number) => wallTimeAt(instant * 1000, timeZone) - instant
  const offsetsAround = (day: number): readonly [number, number] => {
    const known = offsets.get(day)
    if (known) return known
    const around = [offsetAt((day - 1) * DAY), offsetAt((day + 2) * DAY)] as const
    offsets.set(day, around)
    return around
  }
  return (wallTime) => {
    const [before, after] = offsetsAround(Math.floor(wallTime / DAY))
    if (before === after) return wallTime - before
    return wallTimeAt((wallTime - after) * 1000, timeZone) === wallTime ? wallTime - after : wallTime - before
  }
}
