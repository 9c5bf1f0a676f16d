import type { Kysely } from 'kysely'
import type { Row } from '../core/column.ts'
import { LivehouseError } from '../core/errors.ts'
import { addCounts, type Counts } from '../core/outcome.ts'
import { isGreen, partitionKey, type Proof } from '../core/slice.ts'
import type { Database } from '../db/database.ts'
import { quarantineItems } from '../state/quarantine.ts'
import { recordSlice } from '../state/slices.ts'
import { describeChannel } from '../warehouse/channels.ts'
import { loadRows } from '../warehouse/load.ts'
import { createBatchLoader } from './batch-loader.ts'
import { createCallMeter } from './call-meter.ts'
import { type Extraction, extractSlice } from './extract-slice.ts'
import { requireReadable } from './require-readable.ts'
import type { RunDeps, Slice } from './slice-work.ts'

export interface SliceResult {
  readonly proof: Proof
  readonly counts: Counts
  /** Why the slice is not green; undefined where it is. */
  readonly error: unknown
}

/**
 * Extracts one slice: reads its pages, loads the rows batch by batch, proves their count against the source's total, and
 * lands the slice in the ledger in the transaction of its last rows. A slice that fails leaves rows but no coverage.
 *
 * What goes wrong is part of the result: one failing slice does not stop the others.
 */
export async function runSlice(slice: Slice, deps: RunDeps): Promise<SliceResult> {
  const { stream, partition } = slice
  const { db, clock, log, report, runId } = deps
  const name = { stream: stream.name, partition: partitionKey(partition) }
  const startedAt = new Date(clock.now())
  const meter = createCallMeter()
  const loader = createBatchLoader(stream, deps)
  let extraction: Extraction | undefined

  const enterLedger = async (trx: Kysely<Database>, proof: Proof, reason: string | undefined) => {
    const finishedAt = new Date(clock.now())
    const { totals, distinct = 0, rejected = [] } = extraction?.summary ?? {}
    const counts = { distinctRows: distinct, quarantinedRows: rejected.length, ...meter.counts() }
    const origin = { runId, stream: stream.name, partition, covers: slice.covers }
    await recordSlice(trx, { ...origin, ...counts, proof, totals, error: reason, startedAt, finishedAt })
  }
  const end = (proof: Proof, error: unknown): SliceResult => {
    const counts = addCounts(countsOf(extraction, loader.counts()), meter.counts())
    report({ kind: 'slice.ended', ...name, proof })
    if (error === undefined) log.info('slice.ended', { ...name, proof, ...counts })
    else log.warn(proof === 'short' ? 'slice.short' : 'slice.failed', { ...name, proof, ...counts, err: error })
    return { proof, counts, error }
  }

  report({ kind: 'slice.started', ...name })
  log.info('slice.started', name)
  try {
    extraction = await extractSlice(slice, deps, meter, loader)
    const { summary, verdict, channelFacts } = extraction
    await quarantineItems(db, { ...name, runId, seenAt: new Date(clock.now()) }, summary.rejected)
    requireReadable(summary)
    await loader.finish(async (trx) => {
      await loadRows(trx, stream, latestOfEach(stream.key, summary.repeated), runId, { onlyNewer: true })
      if (channelFacts && partition.channel) await describeChannel(trx, partition.channel, channelFacts, runId)
      await enterLedger(trx, verdict.proof, verdict.reason)
    })
    return end(verdict.proof, isGreen(verdict.proof) ? undefined : shortfall(name, verdict.reason))
  } catch (error) {
    if (!isDatabaseError(error)) await enterLedger(db, 'failed', messageOf(error))
    return end('failed', error)
  }
}

function countsOf(extraction: Extraction | undefined, { inserted, updated }: Counts): Partial<Counts> & Counts {
  const { distinct = 0, rejected = [], degraded = 0 } = extraction?.summary ?? {}
  return {
    extracted: distinct + rejected.length,
    inserted,
    updated,
    // A walk that was repeated found the rows unchanged that the one before it had written.
    unchanged: Math.max(0, distinct - inserted - updated),
    removed: 0,
    quarantined: rejected.length,
    degraded,
    calls: 0,
    retries: 0,
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
