import type { OperationNodeSource } from 'kysely'
import type { Row } from '../core/column.ts'
import { partitionKey } from '../core/slice.ts'
import type { Stream } from '../core/stream.ts'
import type { EarlierReadings } from '../state/earlier-readings.ts'
import { executeTogether } from '../state/execute-together.ts'
import { rememberHeaders } from '../state/headers.ts'
import { resolveAbsent } from '../state/quarantine.ts'
import { type SliceRecord, sliceEntry } from '../state/slices.ts'
import { walkMarkEntry } from '../state/walk-marks.ts'
import { channelDescription } from '../warehouse/channels.ts'
import { markRemoved } from '../warehouse/history.ts'
import { loadRows } from '../warehouse/load.ts'
import type { BatchLoader } from './batch-loader.ts'
import type { Extraction } from './extraction.ts'
import type { HeldVerdict } from './hold-against-earlier.ts'
import { askedOf } from './open-reading.ts'
import { presentFieldsEntry } from './require-fields.ts'
import type { RunDeps, Slice } from './slice-work.ts'

/** What landing did beside writing rows. */
export interface Landing {
  /** Rows that were marked removed. */
  readonly removed: number
  /** Whether the headers of a questionnaire are not what they were. */
  readonly hasNewHeaders: boolean
}

/** A slice when it has been read, and what is said of it. */
export interface ReadSlice {
  readonly extraction: Extraction
  readonly verdict: HeldVerdict
  readonly earlier: EarlierReadings
  readonly record: SliceRecord
}

/**
 * Ends a slice: in one transaction its last rows, what they say of the channel, the rows that are gone, and its entry in the
 * ledger. So coverage is never ahead of rows.
 */
export async function landSlice(
  slice: Slice,
  { extraction, verdict, earlier, record }: ReadSlice,
  { clock, runId, timeZone }: RunDeps,
  loader: BatchLoader,
): Promise<Landing> {
  const { stream, partition } = slice
  const { summary, found, channelFacts, title } = extraction
  const at = new Date(clock.now())
  let landing: Landing = { removed: 0, hasNewHeaders: false }
  await loader.finish(async (trx) => {
    await loadRows(trx, stream, latestOfEach(stream.key, summary.repeated), runId, { onlyNewer: true })
    const name = { stream: stream.name, partition: partitionKey(partition) }
    // Of a reading that fell short no row is written that has no id, so none has these headers.
    const isWritten = verdict.proof !== 'short' || verdict.isDrop
    landing = {
      removed: mayMarkRemoved(slice, extraction, verdict, earlier)
        ? await markRemoved(trx, { ...slice, timeZone }, found, runId, at)
        : 0,
      hasNewHeaders:
        isWritten && title !== undefined && (await rememberHeaders(trx, { ...name, title, runId, seenAt: at })),
    }
    const entries: OperationNodeSource[] = [sliceEntry(trx, record)]
    if (isProven(extraction, verdict)) {
      const origin = { ...name, runId, seenAt: at, timeZone, asked: askedOf(slice) }
      entries.push(resolveAbsent(trx, origin, summary.rejected, { isDaily: isDaily(stream) }))
    }
    const fields = presentFieldsEntry(trx, slice, summary)
    if (fields) entries.push(fields)
    if (channelFacts && partition.channel) {
      entries.push(channelDescription(trx, partition.channel, channelFacts, runId))
    }
    if (extraction.firstPage !== undefined && verdict.proof === 'verified') {
      const mark = { total: summary.totals?.first ?? 0, firstPage: extraction.firstPage, walkedAt: record.startedAt }
      entries.push(walkMarkEntry(trx, { ...name, ...mark, runId }))
    }
    await executeTogether(trx, entries)
  })
  return landing
}

/**
 * Never from a walk with duplicates, nor from one that brought what could not be read: the missing row may be among that. Where
 * nothing was there before, nothing can be missing: to count the rows of a long list takes long.
 */
function mayMarkRemoved(
  { stream }: Slice,
  extraction: Extraction,
  verdict: HeldVerdict,
  { isNew }: EarlierReadings,
): boolean {
  const { repeated, rejected } = extraction.summary
  if (isNew && extraction.isOnlyReading) return false
  return stream.marksRemoved && isProven(extraction, verdict) && repeated.length === 0 && rejected.length === 0
}

/** Whether what the reading did not bring is no longer there: an empty answer never says so. */
function isProven({ summary }: Extraction, { proof }: HeldVerdict): boolean {
  return (proof === 'verified' || proof === 'unverifiable') && summary.received > 0
}

/** Whether a walk brings the rows of its day: what an earlier day brought is not made good by it. */
function isDaily({ columns }: Stream): boolean {
  return Object.values(columns).some(({ source }) => source.kind === 'serviceDay')
}

/** Of rows with one key, the one that came last: the freshest where a list moved. */
function latestOfEach(key: readonly string[], rows: readonly Row[]): readonly Row[] {
  return [...new Map(rows.map((row) => [key.map((name) => row[name]).join('\u0000'), row])).values()]
}
