import type { Transaction } from 'kysely'
import { hasCode, LivehouseError, messageOf, recoveryFrom } from '../core/errors.ts'
import type { LogFields } from '../core/log.ts'
import type { FetchPage } from '../core/page.ts'
import { type Counts, isGreen, type Proof, placeOf, sliceName, type Window } from '../core/slice.ts'
import { withoutPhones } from '../core/text.ts'
import { isReadable, quarantineItems } from '../ledger/quarantine/quarantine.ts'
import { type EarlierReadings, recordFields, recordMissingFields } from '../ledger/slices/earlier-readings.ts'
import { recordSlices, type SliceRecord } from '../ledger/slices/slices.ts'
import { recordUnknownFields } from '../ledger/unknown-fields.ts'
import type { Database, Db } from '../store/database.ts'
import { findFilledFields, type TablePart } from '../store/load/table-part.ts'
import { commitUnderLease } from './batch-loader.ts'
import { type CallMeter, type SliceReading, widen } from './slice-reading.ts'
import type { Extraction, FullVerdict, RunDeps, Slice, WalkSummary } from './slice-work.ts'
import { expectedFields } from './walk.ts'

/** Reports the start, the waits and the end of a slice, and records it in the ledger if it fails. */
export function openSliceLog(slice: Slice, deps: RunDeps, meter: CallMeter) {
  const { stream, partition, window, backfillId } = slice
  const { clock, log, report, runId } = deps
  const startedAt = new Date(clock.now())
  const name = { stream: stream.name, slice: sliceName(slice) }
  report({ kind: 'slice.started', ...name })
  log.debug('slice.started', name)
  /** @param covers the range that the slice claims to cover */
  const record = (
    verdict: FullVerdict,
    extraction: Extraction | undefined,
    covers: Window | undefined,
  ): SliceRecord => {
    const { proof, reason, isDrop = false, missingRows, acceptanceId } = verdict
    const { totals, distinct = 0, rejected = [] } = extraction?.summary ?? {}
    return {
      runId,
      stream: stream.name,
      partition,
      window,
      covers,
      settled: undefined,
      lookbackDays: slice.lookbackDays ?? stream.lookbackDays,
      backfillId,
      proof,
      isDrop,
      missingRows,
      acceptanceId,
      totals,
      distinctRows: distinct,
      quarantinedRows: rejected.length,
      ...meter.counts(),
      error: reason,
      startedAt,
      finishedAt: new Date(clock.now()),
    }
  }
  return {
    record,
    /** Records why the slice failed, if that can be written. @returns the error that the slice ends with */
    recordFailure: async (error: unknown, extraction?: Extraction): Promise<unknown> => {
      const failed = record({ proof: 'failed', reason: messageOf(error) }, extraction, slice.covers)
      return await writeFailure(error, slice, deps, async (trx) => await recordSlices(trx, [failed]))
    },
    /** Reports that the slice continues later: a call was refused, the list moved, or the day's calls are spent. */
    wait: (event: 'slice.refused' | 'slice.moved' | 'slice.waiting', counts: Counts, facts: LogFields): void => {
      const fields = { ...name, ...counts, ...facts }
      if (event === 'slice.waiting') log.debug(event, fields)
      else log.warn(event, fields)
    },
    end: (proof: Proof, counts: Counts, error: unknown): void => {
      report({ kind: 'slice.ended', ...name })
      const fields = { ...name, proof, ...counts }
      if (isGreen(proof) || hasCode(error, 'run.interrupted')) return log.debug('slice.ended', fields)
      // For a LivehouseError the message is enough; any other error is a bug, and its stack is needed.
      const cause = error instanceof LivehouseError ? { code: error.code, reason: error.message } : { err: error }
      log.warn(proof === 'short' ? 'slice.short' : 'slice.failed', { ...fields, ...cause })
    },
  }
}

/** Runs `write` after a failure, unless lease or database are lost. @returns the error that the slice ends with */
export async function writeFailure(
  error: unknown,
  slice: Slice,
  deps: RunDeps,
  write: (trx: Transaction<Database>) => Promise<void>,
): Promise<unknown> {
  if (hasCode(error, 'lease.lost') || (error instanceof LivehouseError && error.code.startsWith('db.'))) return error
  try {
    await commitUnderLease(slice, deps, write)
    return error
  } catch (failure) {
    if (hasCode(failure, 'lease.lost')) return failure
    throw failure
  }
}

/** The error of a slice that is not green. */
export function shortfall(slice: Slice, reason = ''): LivehouseError {
  const message = `${slice.stream.name} ${sliceName(slice)} is short: ${reason}. The next sync reads it again.`
  return new LivehouseError('slice.short', message, {})
}

type ReadItems = ReadSoFar & Pick<WalkSummary, 'rejected' | 'unknownFields'>

/**
 * Puts unreadable items into quarantine, and then fails the slice if there are too many of them, or a field that its
 * rows had is missing (`requireFields`). @throws LivehouseError `rows.unreadable`, `interface.changed`
 */
export async function checkItems(reading: SliceReading, items: ReadItems, keys?: readonly string[]): Promise<void> {
  await quarantineRejected(reading, items)
  requireReadable(items, reading.deps)
  await requireFields(reading, items, keys)
}

/** Puts unreadable items into quarantine, and logs new unknown fields. */
async function quarantineRejected(
  { slice, deps }: SliceReading,
  { rejected, unknownFields }: ReadItems,
): Promise<void> {
  if (rejected.length + unknownFields.size === 0) return
  const { clock, log, runId, timeZone } = deps
  const seenAt = new Date(clock.now())
  const place = placeOf(slice)
  const fields = await commitUnderLease(slice, deps, async (trx) => {
    await quarantineItems(trx, { ...place, runId, seenAt, timeZone, requestWindow: widen(slice) }, rejected)
    return await recordUnknownFields(trx, place.stream, unknownFields, runId, seenAt)
  })
  if (fields.length > 0) log.warn('fields.unknown', { stream: place.stream, fields: fields.map(withoutPhones) })
}

/** Records, in the transaction of its rows, the fields that a reading had and that the ledger lacks so far. */
export async function recordPresentFields(
  db: Db,
  slice: Slice,
  { received, absentFields }: ReadSoFar,
  { presentFields }: EarlierReadings,
): Promise<void> {
  const isNew = (field: string) => !absentFields.has(field) && !presentFields.includes(field)
  const fields = received === 0 ? [] : expectedFields(slice.stream).filter(isNew)
  if (fields.length > 0) await recordFields(db, placeOf(slice), fields)
}

type ReadSoFar = Pick<WalkSummary, 'received' | 'absentFields'>

/** At the end of a reading with rows, a field that was readable in no row counts as absent. */
export function readableOf({ received, distinct, absentFields, unreadFields }: WalkSummary): ReadSoFar {
  return { received, absentFields: distinct > 0 ? unreadFields : absentFields }
}

/**
 * Fails a reading, before its rows are written, if a field that rows of its range have is absent from every item: these
 * rows would be overwritten with NULL. If no row of the range has the field it may be absent, because some services
 * leave out empty fields. In a part of a list (`keys`), later rows may have it, so only the same rows count. The fields
 * that identify rows are never empty, so for them all rows of the partition count.
 * Among few items only the fields of an identity are checked: without one, each item would become another row.
 * @throws LivehouseError `interface.changed`
 */
export async function requireFields(
  { slice, deps: { db, clock, timeZone }, earlier }: SliceReading,
  { received, absentFields }: ReadSoFar,
  keys?: readonly string[],
): Promise<void> {
  if (received === 0 || absentFields.size === 0) return
  const { stream } = slice
  const { knownFields } = await earlier()
  const isAbsent = (field: string) => absentFields.has(field) && knownFields.includes(field)
  const isSample = received >= MIN_SAMPLE
  const absent = expectedFields(stream, isSample ? undefined : (stream.identity?.of ?? [])).filter(isAbsent)
  const identifying = [...(stream.identity?.of ?? []), ...(stream.versions?.sameIn ?? [])]
  const absentIdentifying = isSample ? expectedFields(stream, identifying).filter(isAbsent) : []
  const findFilled = async (fields: readonly string[], part: Pick<TablePart, 'window' | 'keys'>) =>
    fields.length === 0 ? fields : await findFilledFields(db, { ...slice, ...part, timeZone }, fields)
  const filled = await findFilled(absent, keys ? { window: undefined, keys } : { window: widen(slice) })
  const fields = [...new Set([...filled, ...(await findFilled(absentIdentifying, { window: undefined }))])]
  if (fields.length === 0) return
  const place = placeOf(slice)
  await recordMissingFields(db, place, fields, new Date(clock.now()))
  const channel = slice.partition.channel === undefined ? '' : ` --channel ${slice.partition.channel}`
  throw new LivehouseError(
    'interface.changed',
    `${place.stream} ${place.partition}: none of ${received} items has ${fields.join(', ')} in a readable form any ` +
      "more, so no known value was overwritten. Ask the service's support. If the change is intended: " +
      `livehouse accept --stream ${place.stream}${channel} --reason TEXT`,
    {},
  )
}

/** Among fewer items, a few bad ones do not show that the interface has changed. */
const MIN_SAMPLE = 20

/** Fails a slice if too many of its items are unreadable: the interface has changed. Three samples say why. */
function requireReadable({ received, rejected: quarantined }: ReadItems, { maxUnreadablePercent }: RunDeps): void {
  const rejected = quarantined.filter((item) => !isReadable(item))
  if (received < MIN_SAMPLE || rejected.length * 100 <= received * maxUnreadablePercent) return
  const samples = [...new Set(rejected.map(({ reason }) => reason))].slice(0, 3)
  const evidence = `${rejected.length} of ${received} rows could not be read: ${samples.join('; ')}`
  const cause = 'They are kept in quarantine; the interface has probably changed (see `livehouse quarantine list`)'
  const repair = `To load the others anyway, raise LIVEHOUSE_MAX_UNREADABLE_PERCENT (now ${maxUnreadablePercent})`
  throw new LivehouseError('rows.unreadable', `${evidence}. ${cause}. ${repair}.`, {})
}

/** The service counts as out of reach once this many successive calls, each with all its attempts, did not reach it. */
const MAX_MISSES = 20

/** The dependencies of a run that can be ended early. */
export type EndableRun = ReturnType<typeof createEndableRun>

/**
 * Lets a run end early because of an error that all its slices would meet. A single endpoint that does not answer does
 * not count as a service out of reach.
 */
export function createEndableRun(outer: RunDeps) {
  const ending = new AbortController()
  let hasAnswered = false
  let misses = 0
  const fetchPage: FetchPage = async (request, context) => {
    try {
      const page = await outer.fetchPage(request, context)
      hasAnswered = true
      misses = 0
      return page
    } catch (error) {
      if (hasCode(error, 'api.unreachable')) misses++
      throw error
    }
  }
  const isLost = (error: unknown) => hasCode(error, 'api.unreachable') && (!hasAnswered || misses >= MAX_MISSES)
  const deps: RunDeps = { ...outer, signal: AbortSignal.any([outer.signal, ending.signal]), fetchPage }
  return {
    deps,
    /** Whether all slices would meet this error: credentials refused, service or database out of reach. */
    isFatal: (error: unknown): boolean => recoveryFrom(error) === 'abort' || isLost(error),
    endRun: (error: unknown): void => ending.abort(error),
  }
}
