import type { PartitionPart } from './column.ts'
import { formatWallTime, parseWallTime, type WallTime } from './wall-clock.ts'

/** The unit that a stream is read by: a channel, a gift type or questionnaire of one, or (if empty) the account. */
export type Partition = Readonly<Partial<Record<PartitionPart, string>>>

/** Names a partition in tables, logs and flags: `account`, `channel=9`, `channel=9/type=cash`, `…/question=ab`. */
export function partitionKey(partition: Partition): string {
  const parts = (['channel', 'type', 'question'] as const).flatMap((part) =>
    partition[part] === undefined ? [] : [`${part}=${partition[part]}`],
  )
  return parts.length === 0 ? 'account' : parts.join('/')
}

const PARTITION = /^channel=([^/]+)(?:\/type=([^/]+))?(?:\/question=(.+))?$/s

/** The inverse of `partitionKey`; undefined if `key` is not the name of a partition. */
export function parsePartition(key: string): Partition | undefined {
  if (key === 'account') return {}
  const parts = PARTITION.exec(key)
  if (parts === null) return undefined
  const [, channel, type, question] = parts
  return { ...(channel && { channel }), ...(type && { type }), ...(question && { question }) }
}

/** The part of a stream from which the names of its lists are built. */
interface Listed {
  readonly wire: { readonly path: string; readonly parts?: Readonly<Record<string, PartitionPart>> }
}

/** The endpoint's name in messages, logs and metrics: the last part of its path. */
export function endpointOf({ wire }: Listed): string {
  return wire.path.slice(wire.path.lastIndexOf('/') + 1)
}

/** `LIST channel 9 type cash`, for messages. */
export function describeList({ stream, partition }: { stream: Listed; partition: Partition }): string {
  const parts = ['channel', ...Object.values(stream.wire.parts ?? {})] as const
  const names = parts.flatMap((part) => (partition[part] === undefined ? [] : [`${part} ${partition[part]}`]))
  return [endpointOf(stream), ...names].join(' ')
}

/** A partition of a stream, by their names in the ledger. */
export interface Place {
  readonly stream: string
  readonly partition: string
}

export function placeOf({ stream, partition }: { stream: { readonly name: string }; partition: Partition }): Place {
  return { stream: stream.name, partition: partitionKey(partition) }
}

/** A half-open range in whole minutes of the service's wall clock. */
export interface Window {
  readonly from: WallTime
  readonly to: WallTime
}

export function isEmptyWindow({ from, to }: Window): boolean {
  return from >= to
}

/** The parts of a window that no other window covers, oldest first. */
export function subtractWindows({ from, to }: Window, others: readonly Window[]): readonly Window[] {
  const parts: Window[] = []
  let start = from
  for (const other of others.toSorted((a, b) => a.from - b.from)) {
    parts.push({ from: start, to: Math.min(other.from, to) })
    start = Math.max(start, other.to)
  }
  return [...parts, { from: start, to }].filter((part) => !isEmptyWindow(part))
}

/** A window as `tsrange` text, also for people. */
export function formatWindow({ from, to }: Window): string {
  return `[${formatWallTime(from)}, ${formatWallTime(to)})`
}

/** Names a slice in messages and progress: `channel=9 [2026-11-20 00:00:00, 2026-11-21 00:00:00)`. */
export function sliceName({ partition, window }: { partition: Partition; window: Window | undefined }): string {
  return window === undefined ? partitionKey(partition) : `${partitionKey(partition)} ${formatWindow(window)}`
}

/** Windows as `tsmultirange` text; Postgres joins those that touch or overlap. */
export function formatRanges(windows: readonly Window[]): string {
  return `{${windows.map(formatWindow).join(',')}}`
}

/** Parses a Postgres range, `["2026-11-20 14:03:00","2026-11-20 15:00:00")`; undefined if it is empty or unbounded. */
export function parseRange(text: string | null): Window | undefined {
  return parseRanges(text)[0]
}

/** Parses a multirange of Postgres, in its order. */
export function parseRanges(text: string | null): readonly Window[] {
  return [...(text ?? '').matchAll(/\["([^"]*)","([^"]*)"\)/g)].flatMap(([, lower = '', upper = '']) => {
    const [from, to] = [parseWallTime(lower), parseWallTime(upper)]
    return from === undefined || to === undefined ? [] : [{ from, to }]
  })
}

/**
 * How complete a slice is known to be.
 * `verified`: the source's total was the same in every answer and equals distinct + quarantined rows (+ known
 * duplicates).
 * `agreed`: the source gives no total; two clean readings at least an hour apart, with different page borders, held the
 * same rows.
 * `unverifiable`: the source gives no total, and there has been only one clean reading; it is read again until it is
 * `agreed`.
 * `moving`: a live list changed while it was read; it is read again next time.
 * `short`: even after repeated readings, fewer rows came than the source's total.
 * `accepted`: an operator acknowledged the shortfall.
 * `failed`: the slice was not read to its end.
 */
export type Proof = (typeof proofs)[number]

export const proofs = ['verified', 'agreed', 'unverifiable', 'moving', 'short', 'accepted', 'failed'] as const

/** Whether a run with a slice of this proof can be green. */
export function isGreen(proof: Proof): boolean {
  return proof !== 'short' && proof !== 'failed'
}

const countNames = [
  'extracted',
  'inserted',
  'updated',
  'unchanged',
  'removed',
  'quarantined',
  'degraded',
  'calls',
  'retries',
] as const

/**
 * Counts of rows and calls of a slice, a stream or a run. `extracted`: items received, not counting repeated pages.
 * `degraded`: rows that landed with an unreadable field.
 */
export type Counts = Readonly<Record<(typeof countNames)[number], number>>

export const noCounts: Counts = zeros(countNames)

/** Zero slices of each proof. */
export const noSlices = zeros(proofs)

function zeros<Name extends string>(names: readonly Name[]): Readonly<Record<Name, number>> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- one entry for each of the names
  return Object.fromEntries(names.map((name) => [name, 0])) as Record<Name, number>
}

export function addCounts(a: Counts, b: Partial<Counts>): Counts {
  const sums: Record<keyof Counts, number> = { ...a }
  for (const name of countNames) sums[name] += b[name] ?? 0
  return sums
}

/** The name of the lease of a partition of a stream. One run at a time holds it. */
export function partitionLease({ stream, partition }: Place): string {
  return `partition ${stream} ${partition}`
}
