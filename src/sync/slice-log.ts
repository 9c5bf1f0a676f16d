import { LivehouseError } from '../core/errors.ts'
import type { LogFields } from '../core/log.ts'
import type { Counts } from '../core/outcome.ts'
import { isGreen, type Proof, type Window } from '../core/slice.ts'
import type { SliceRecord } from '../ledger/slices.ts'
import type { CallMeter } from './call-meter.ts'
import type { Extraction } from './extraction.ts'
import type { HeldVerdict } from './hold-against-earlier.ts'
import { type RunDeps, type Slice, sliceName } from './slice-work.ts'

/** What a slice tells while it goes on, and what the ledger keeps of it. */
export interface SliceLog {
  /** `covers`: what it claims to cover. */
  readonly record: (verdict: HeldVerdict, extraction: Extraction | undefined, covers: Window | undefined) => SliceRecord
  readonly end: (proof: Proof, counts: Counts, error: unknown) => void
  /** Another day goes on with it, whether the service refused it or livehouse asks for no more. */
  readonly wait: (counts: Counts, facts: LogFields, isRefused: boolean) => void
}

/** Says that a slice has begun. */
export function openSliceLog(slice: Slice, { clock, log, report, runId }: RunDeps, meter: CallMeter): SliceLog {
  const { stream, partition, window, backfillId } = slice
  const startedAt = new Date(clock.now())
  const name = { stream: stream.name, slice: sliceName(slice) }
  report({ kind: 'slice.started', ...name })
  log.info('slice.started', name)
  return {
    record: ({ proof, reason, isDrop, missingRows, acceptanceId }, extraction, covers) => {
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
    },
    wait: (counts, facts, isRefused) => {
      const fields = { ...name, ...counts, ...facts }
      if (isRefused) log.warn('slice.refused', fields)
      else log.info('slice.waiting', fields)
    },
    end: (proof, counts, error) => {
      report({ kind: 'slice.ended', ...name, proof })
      if (isGreen(proof)) log.info('slice.ended', { ...name, proof, ...counts })
      else
        log.warn(proof === 'short' ? 'slice.short' : 'slice.failed', { ...name, proof, ...counts, ...causeOf(error) })
    },
  }
}

/** An error of ours says all in its message; any other is a bug, and its stack is wanted. */
function causeOf(error: unknown): LogFields {
  return error instanceof LivehouseError ? { code: error.code, reason: error.message } : { err: error }
}
