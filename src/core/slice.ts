import { formatWallTime, parseWallTime, type WallTime } from './wall-clock.ts'
import type { PartitionPart } from './column.ts'

/** What a stream is extracted by: a channel, a type or questionnaire of one, or (empty) the whole account. */
export type Partition = Readonly<Partial<Record<PartitionPart, string>>>

/** `channel=9`, `channel=9/type=cash`, `channel=9/question=ab`, `account`: the form in tables, logs and flags. */
export function partitionKey(partition: Partition): string {
  const parts = (['channel', 'type', 'question'] as const).flatMap((part) =>
    partition[part] === undefined ? [] : [`${part}=${partition[part]}`],
  )
  return parts.length === 0 ? 'account' : parts.join('/')
}

const PARTITION = /^channel=([^/]+)(?:\/type=([^/]+))?(?:\/question=(.+))?$/s

/** The reverse of `partitionKey`; undefined for text that it does not make. */
export function parsePartition(key: string): Partition | undefined {
  if (key === 'account') return {}
  const parts = PARTITION.exec(key)
  if (parts === null) return undefined
  const [, channel, type, question] = parts
  return { ...(channel && { channel }), ...(type && { type }), ...(question && { question }) }
}

/** The part of a stream that the names of its lists are made of. */
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

/** A partition of a stream, by the names that the ledger has, such as `channel=9`. */
export interface Place {
  readonly stream: string
  readonly partition: string
}

export function placeOf({ stream, partition }: { stream: { readonly name: string }; partition: Partition }): Place {
  return { stream: stream.name, partition: partitionKey(partition) }
}

/** Half-open, whole minutes of the service's wall clock. */
export interface Window {
  readonly from: WallTime
  readonly to: WallTime
}

export function isEmptyWindow({ from, to }: Window): boolean {
  return from >= to
}

/** What is left of a window without others, oldest first. */
export function subtractWindows({ from, to }: Window, others: readonly Window[]): readonly Window[] {
  const left: Window[] = []
  let start = from
  for (const other of others.toSorted((a, b) => a.from - b.from)) {
    left.push({ from: start, to: Math.min(other.from, to) })
    start = Math.max(start, other.to)
  }
  return [...left, { from: start, to }].filter((part) => !isEmptyWindow(part))
}

/** A window for people, and as `tsrange` text. */
export function formatWindow({ from, to }: Window): string {
  return `[${formatWallTime(from)}, ${formatWallTime(to)})`
}

/** `channel=9 [2026-11-20 00:00:00, 2026-11-21 00:00:00)`: a slice in messages and progress. */
export function sliceName({ partition, window }: { partition: Partition; window: Window | undefined }): string {
  return window === undefined ? partitionKey(partition) : `${partitionKey(partition)} ${formatWindow(window)}`
}

/** Windows as `tsmultirange` text, which joins those that touch or overlap. */
export function formatRanges(windows: readonly Window[]): string {
  return `{${windows.map(formatWindow).join(',')}}`
}

/** A range as Postgres writes it, `["2026-11-20 14:03:00","2026-11-20 15:00:00")`; undefined where it has no ends. */
export function parseRange(text: string | null): Window | undefined {
  return parseRanges(text)[0]
}

/** All ranges in what Postgres writes of a multirange, in its order. */
export function parseRanges(text: string | null): readonly Window[] {
  return [...(text ?? '').matchAll(/\["([^"]*)","([^"]*)"\)/g)].flatMap(([, lower = '', upper = '']) => {
    const [from, to] = [parseWallTime(lower), parseWallTime(upper)]
    return from === undefined || to === undefined ? [] : [{ from, to }]
  })
}

/**
 * How complete a slice is known to be.
 * `verified`: the source's total was the same in every answer and distinct + quarantined rows (+ known duplicates)
 * equal it.
 * `agreed`: the source gives no total; two clean readings at least an hour apart, with other page borders, held the
 * same rows.
 * `unverifiable`: the source gives no total, and one clean reading was had so far; it is read again until it is
 * `agreed`.
 * `moving`: a live list moved while it was read; read again next time.
 * `short`: fewer rows came than the source says, after re-reading.
 * `accepted`: a shortfall that an operator acknowledged.
 * `failed`: did not get to its end.
 */
export type Proof = (typeof proofs)[number]

export const proofs = ['verified', 'agreed', 'unverifiable', 'moving', 'short', 'accepted', 'failed'] as const

/** Whether a run may contain it and still be green. */
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
 * Rows and calls of a slice, a stream or a run. `extracted`: items received, repeated pages not counted. `degraded`:
 * rows that landed with an unreadable field.
 */
export type Counts = Readonly<Record<(typeof countNames)[number], number>>

export const noCounts: Counts = zeros(countNames)

/** Slices by how complete they are known to be: none. */
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

/** The name of the lease of a stream's partition: one run at a time holds it. */
export function partitionLease({ stream, partition }: Place): string {
  return `partition ${stream} ${partition}`
}
