import type { Kysely } from 'kysely'
import type { Row } from '../core/column.ts'
import { LivehouseError } from '../core/errors.ts'
import type { Counts } from '../core/outcome.ts'
import { isGreen, partitionKey, type Proof } from '../core/slice.ts'
import type { Stream } from '../core/stream.ts'
import type { Database } from '../db/database.ts'
import { quarantineItems, resolveAbsent } from '../state/quarantine.ts'
import { recordSlice } from '../state/slices.ts'
import { rememberUnknownFields } from '../state/unknown-fields.ts'
import { describeChannel } from '../warehouse/channels.ts'
import { markRemoved } from '../warehouse/history.ts'
import { loadRows } from '../warehouse/load.ts'
import { type BatchLoader, createBatchLoader } from './batch-loader.ts'
import { type CallMeter, createCallMeter } from './call-meter.ts'
import { extractKeyed } from './extract-keyed.ts'
import { extractUnkeyed } from './extract-unkeyed.ts'
import type { Extraction, FoundRows } from './extraction.ts'
import { type HeldVerdict, holdAgainstEarlier } from './hold-against-earlier.ts'
import { requireReadable } from './require-readable.ts'
import type { RunDeps, Slice } from './slice-work.ts'

export interface SliceResult {
  readonly proof: Proof
  readonly counts: Counts
  /** Why the slice is not green; undefined where it is. */
  readonly error: unknown
  /** Undefined where the reading did not come to its end. */
  readonly found: FoundRows | undefined
}

/**
 * Extracts one slice: reads its pages, loads the rows batch by batch, proves their count against the source's total, and
 * lands the slice in the ledger in the transaction of its last rows. A slice that fails leaves rows but no coverage.
 *
 * What goes wrong is part of the result: one failing slice does not stop the others.
 */
export async function runSlice(slice: Slice, deps: RunDeps): Promise<SliceResult> {
  const { stream, partition } = slice
  const { db, clock, log, report, runId, timeZone } = deps
  const name = { stream: stream.name, partition: partitionKey(partition) }
  const startedAt = new Date(clock.now())
  const meter = createCallMeter()
  const loader = createBatchLoader(stream, deps)
  let extraction: Extraction | undefined

  let removed = 0

  const enterLedger = async (trx: Kysely<Database>, { proof, reason, isDrop }: HeldVerdict) => {
    const finishedAt = new Date(clock.now())
    const { totals, distinct = 0, rejected = [] } = extraction?.summary ?? {}
    const counts = { distinctRows: distinct, quarantinedRows: rejected.length, ...meter.counts() }
    const origin = { runId, stream: stream.name, partition, covers: slice.covers }
    await recordSlice(trx, { ...origin, ...counts, proof, isDrop, totals, error: reason, startedAt, finishedAt })
  }
  const reportUnknownFields = async ({ summary }: Extraction) => {
    const seenAt = new Date(clock.now())
    const fields = await rememberUnknownFields(db, stream.name, summary.unknownFields, runId, seenAt)
    if (fields.length > 0) log.warn('fields.unknown', { stream: stream.name, fields })
  }
  const end = (proof: Proof, error: unknown): SliceResult => {
    const counts = { ...countsOf(extraction, loader.counts()), removed, ...meter.counts() }
    report({ kind: 'slice.ended', ...name, proof })
    if (error === undefined) log.info('slice.ended', { ...name, proof, ...counts })
    else log.warn(proof === 'short' ? 'slice.short' : 'slice.failed', { ...name, proof, ...counts, err: error })
    return { proof, counts, error, found: extraction?.found }
  }

  report({ kind: 'slice.started', ...name })
  log.info('slice.started', name)
  try {
    const read = await extract(slice, deps, meter, loader)
    extraction = read
    const { summary, found, channelFacts } = read
    const at = new Date(clock.now())
    const origin = { ...name, runId, seenAt: at, timeZone }
    await quarantineItems(db, origin, summary.rejected)
    await reportUnknownFields(read)
    requireReadable(summary)
    const verdict = await holdAgainstEarlier(slice, read, deps)
    await loader.finish(async (trx) => {
      await loadRows(trx, stream, latestOfEach(stream.key, summary.repeated), runId, { onlyNewer: true })
      if (channelFacts && partition.channel) await describeChannel(trx, partition.channel, channelFacts, runId)
      if (mayMarkRemoved(stream, read, verdict))
        removed = await markRemoved(trx, { ...slice, timeZone }, found, runId, at)
      if (slice.window === undefined && isProven(read, verdict))
        await resolveAbsent(trx, origin, summary.rejected, { isDaily: isDaily(stream) })
      await enterLedger(trx, verdict)
    })
    return end(verdict.proof, isGreen(verdict.proof) ? undefined : shortfall(name, verdict.reason))
  } catch (error) {
    if (!isDatabaseError(error)) await enterLedger(db, { proof: 'failed', reason: messageOf(error), isDrop: false })
    return end('failed', error)
  }
}

async function extract(slice: Slice, deps: RunDeps, meter: CallMeter, loader: BatchLoader): Promise<Extraction> {
  const { identity } = slice.stream
  if (identity) return await extractUnkeyed(slice, identity, deps, meter, loader)
  return await extractKeyed(slice, deps, meter, loader)
}

/** Only a proven reading says that a row is gone: never one with duplicates. */
function mayMarkRemoved(stream: Stream, read: Extraction, verdict: HeldVerdict): boolean {
  return stream.marksRemoved && isProven(read, verdict) && read.summary.repeated.length === 0
}

/** Whether what the reading did not bring is no longer there: an empty answer never says so. */
function isProven({ summary }: Extraction, { proof }: HeldVerdict): boolean {
  return (proof === 'verified' || proof === 'unverifiable') && summary.received > 0
}

/** Whether a walk brings the rows of its day: what an earlier day brought is not made good by it. */
function isDaily({ columns }: Stream): boolean {
  return Object.values(columns).some(({ source }) => source.kind === 'serviceDay')
}

function countsOf(extraction: Extraction | undefined, { inserted, updated, unchanged }: Counts) {
  const { distinct = 0, rejected = [], degraded = 0 } = extraction?.summary ?? {}
  return {
    extracted: Math.max(distinct + rejected.length, inserted + updated),
    inserted,
    updated,
    // A walk that was repeated found the rows unchanged that the one before it had written.
    unchanged: Math.min(unchanged, Math.max(0, distinct - inserted - updated)),
    quarantined: rejected.length,
    degraded,
  }
}

/** Of rows with one key, the one that came last: the freshest where a list moved. */
function latestOfEach(key: readonly string[], rows: readonly Row[]): readonly Row[] {
  return [...new Map(rows.map((row) => [key.map((name) => row[name]).join('\u0000'), row])).values()]
}

function shortfall(name: { readonly stream: string; readonly partition: string }, reason = ''): LivehouseError {
  const message = `${name.stream} ${name.partition} is short: ${reason}. The next sync reads it again.`
  return new LivehouseError('slice.short', message, { ...name, reason })
}

function isDatabaseError(error: unknown): boolean {
  return error instanceof LivehouseError && error.code.startsWith('db.')
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
