import { type Counts, noCounts } from '../core/outcome.ts'
import { isGreen, type Proof } from '../core/slice.ts'
import { createBatchLoader } from './batch-loader.ts'
import { acceptShortfall, compareWithEarlier, type Extraction, type FoundRows } from './judge-walk.ts'
import { extractSlice } from './extract-slice.ts'
import { completeHeaders } from './complete-headers.ts'
import { type Landing, landSlice } from './land-slice.ts'
import { choosePageSize, openReading } from './page-reading.ts'
import { keepRejected, openSliceLog, recordFailure, requireFields, requireReadable, shortfall } from './record-slice.ts'
import { createCallMeter, type RunDeps, type Slice } from './slice-work.ts'

export interface EndedSlice {
  readonly kind: 'ended'
  readonly proof: Proof
  /** Of further slices that the ledger has of the same reading. */
  readonly otherProofs?: readonly Proof[]
  readonly counts: Partial<Counts>
  /** Why the slice is not green; undefined where it is. */
  readonly error: unknown
  /** Undefined where the reading did not come to its end. */
  readonly found: FoundRows | undefined
  /** Whether the headers of a questionnaire are not what they were: all of it is to be read again. */
  readonly hasNewHeaders: boolean
}

export function failedBy(error: unknown): EndedSlice {
  return { kind: 'ended', proof: 'failed', counts: noCounts, error, found: undefined, hasNewHeaders: false }
}

/** It was too large, or did not prove itself: nothing is claimed of it, though rows with a key may be written. */
export interface CutSlice {
  readonly kind: 'cut'
  readonly parts: readonly Slice[]
  readonly counts: Partial<Counts>
}

/**
 * Extracts one slice: reads its pages, loads the rows, proves their count against the source's total, and lands the
 * slice in the ledger in the transaction of its last rows. A slice that fails leaves rows, but no coverage.
 *
 * What goes wrong is part of the result: one failing slice does not stop the others.
 */
export async function runSlice(slice: Slice, deps: RunDeps): Promise<EndedSlice | CutSlice> {
  const meter = createCallMeter()
  const loader = createBatchLoader(slice, deps)
  const log = openSliceLog(slice, deps, meter)
  let extraction: Extraction | undefined
  let removed = 0

  const end = (
    proof: Proof,
    error: unknown,
    { hasNewHeaders, proofs }: Pick<Landing, 'hasNewHeaders' | 'proofs'> = { hasNewHeaders: false, proofs: [] },
  ): EndedSlice => {
    const counts = { ...countsOf(extraction, loader.counts()), removed, ...meter.counts() }
    log.end(proof, counts, error)
    const otherProofs = proofs.slice(0, -1)
    return { kind: 'ended', proof, otherProofs, counts, error, found: extraction?.found, hasNewHeaders }
  }
  try {
    const reading = openReading(slice, deps, meter, await choosePageSize(slice, deps))
    const extracted = await extractSlice(slice, reading, deps, loader)
    if (extracted.kind === 'cut') {
      const { inserted, updated } = loader.counts()
      const parts = extracted.parts.map((part) => (inserted + updated > 0 ? { ...part, hasWritten: true } : part))
      return { kind: 'cut', parts, counts: { inserted, updated, ...meter.counts() } }
    }
    extraction = await completeHeaders(slice, extracted.extraction, reading.pages, deps)
    await keepRejected(slice, extraction.summary, deps)
    requireReadable(extraction.summary)
    await requireFields(slice, extraction.summary, reading, deps)
    const lastWalk = slice.window === undefined ? (await reading.earlier()).lastWalk : undefined
    const held = await compareWithEarlier(slice, extraction, deps, lastWalk)
    const verdict = await acceptShortfall(slice, held, deps)
    if (verdict.proof === 'accepted') await loader.add(extraction.unproven ?? [])
    const record = { ...log.record(verdict, extraction, reading.covers()), pageSize: extraction.pageSize }
    const landing = await landSlice(slice, { extraction, verdict, record }, deps, loader)
    removed = landing.removed
    const proof = landing.proofs.at(-1) ?? verdict.proof
    return end(proof, isGreen(proof) ? undefined : shortfall(slice, verdict.reason), landing)
  } catch (error) {
    await loader.settle()
    return end('failed', await recordFailure(slice, error, log, deps, extraction))
  }
}

function countsOf(extraction: Extraction | undefined, { inserted, updated, unchanged }: Counts): Counts {
  const { distinct = 0, rejected = [], degraded = 0 } = extraction?.summary ?? {}
  return {
    extracted: Math.max(distinct + rejected.length, inserted + updated),
    inserted,
    updated,
    // A walk that was repeated found the rows unchanged that the one before it had written.
    unchanged: Math.min(unchanged, Math.max(0, distinct - inserted - updated)),
    removed: 0,
    quarantined: rejected.length,
    degraded,
    calls: 0,
    retries: 0,
  }
}
