import type { RunOutcome, StreamOutcome } from '../core/outcome.ts'
import { proofs } from '../core/slice.ts'

/** The one JSON object that `--json` prints, on one line (contract, section 2). */
export function outcomeJson(outcome: RunOutcome): string {
  return JSON.stringify(outcomeObject(outcome))
}

/** The same as an object, for the record of the run. */
export function outcomeObject(outcome: RunOutcome): Readonly<Record<string, unknown>> {
  return {
    run_id: outcome.runId,
    command: outcome.command,
    status: outcome.status,
    started_at: outcome.startedAt,
    finished_at: outcome.finishedAt,
    resumes_at: outcome.resumesAt,
    streams: Object.fromEntries(Object.entries(outcome.streams).map(([name, stream]) => [name, streamJson(stream)])),
    errors: outcome.errors.map(({ stream, partition, code, message }) => ({ stream, partition, code, message })),
  }
}

function streamJson({ counts, slices }: StreamOutcome): Readonly<Record<string, unknown>> {
  const { extracted, inserted, updated, unchanged, removed, quarantined, degraded, calls, retries } = counts
  const byProof = Object.fromEntries(proofs.map((proof) => [proof, slices[proof]]))
  return { extracted, inserted, updated, unchanged, removed, quarantined, degraded, calls, retries, slices: byProof }
}
