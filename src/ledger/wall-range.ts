import type { Window } from '../core/slice.ts'
import { formatWallTime, parseWallTime } from '../core/wall-clock.ts'

/** A window as `tsrange` text. */
export function formatRange({ from, to }: Window): string {
  return `[${formatWallTime(from)},${formatWallTime(to)})`
}

/** The bounds of a range as Postgres gives them (`timestamp` text); undefined for an empty or endless one. */
export function readBounds(lower: string | null, upper: string | null): Window | undefined {
  const [from, to] = [parseWallTime(lower ?? ''), parseWallTime(upper ?? '')]
  return from === undefined || to === undefined ? undefined : { from, to }
}

/** A range as Postgres writes it, `["2026-11-20 14:03:00","2026-11-20 15:00:00")`; undefined for NULL and an empty or endless one. */
export function parseRange(text: string | null): Window | undefined {
  const [, lower = null, upper = null] = /^\["([^"]*)","([^"]*)"\)$/.exec(text ?? '') ?? []
  return readBounds(lower, upper)
}
