import type { Random } from './world/random.ts'

/** What the emulated service is like to call; may be changed while it runs. */
export interface Conditions {
  /** How long each answer takes. */
  latencyMs: number
  /** By how much that differs at most from call to call, either way. */
  jitterMs: number
  /** How much longer each page takes than the one before it: a real service walks to a deep page row by row. */
  deepPageMs: number
  /** More calls a second are refused with 429 and 429001; undefined for no limit. */
  callsPerSecond: number | undefined
  /** Sent as `Retry-After` with such a refusal; without it the header is missing. */
  retryAfterSeconds: number | undefined
  /** How far its clock is ahead of the one that it was given. */
  clockAheadMs: number
}

/** How long a call waits before it is looked at. */
export function latencyOf({ latencyMs, jitterMs }: Readonly<Conditions>, random: Random): number {
  return jitterMs === 0 ? latencyMs : Math.max(0, latencyMs + (2 * random.next() - 1) * jitterMs)
}

/** How long the answer of a page waits, by its number from 1. */
export function depthDelayOf({ deepPageMs }: Readonly<Conditions>, page: number | undefined): number {
  return Math.max(0, (page ?? 1) - 1) * deepPageMs
}
