import type { Job } from '../../core/define-job.ts'
import type { Kysely } from 'kysely'
import type { Cause } from '../../core/cause.ts'
import { parsePartition } from '../../core/slice.ts'
import type { StreamName } from '../../core/stream.ts'
import { DAY, MINUTE, type WallTime, wallTimeAt } from '../../core/wall-clock.ts'
import type { Database } from '../../store/database.ts'
import { countUnproven, type ExpectedPart, readLastLandings, type ServiceDay } from '../../ledger/latest-readings.ts'
import { countRunsWaiting } from '../../ledger/job-runs.ts'
import { readServedSince } from '../../ledger/jobs.ts'

/** The kinds that only who knows the jobs can tell of. */
export const JOB_CAUSES = ['stale', 'unfinished'] as const

/** A stream of a job and the parts of it that a day is to bring; `any` where one of them is enough. */
export interface ExpectedStream {
  readonly stream: StreamName
  readonly parts: 'any' | readonly Omit<ExpectedPart, 'stream'>[]
}

export interface JobCauseOptions {
  /** Those that are served. */
  readonly jobs: readonly Job[]
  /** Of the service: its day, and the clock of `provenBy`. */
  readonly timeZone: string
  /** Those of a job that have something to read on a day. */
  readonly partsOf: (job: Job, day: ServiceDay) => Promise<readonly ExpectedStream[]>
}

/** One night may be short; from the second in a row on it is worth a message. */
const RUNS_UNTIL_UNFINISHED = 2

/** What jobs promise and have not kept. */
export async function readJobCauses(
  db: Kysely<Database>,
  nowMs: number,
  options: JobCauseOptions,
): Promise<readonly Cause[]> {
  const causes = [...(await readLateStreams(db, nowMs, options))]
  for (const job of options.jobs) {
    const cause = await readUnfinished(db, job)
    if (cause !== undefined) causes.push(cause)
  }
  return causes
}

/** Streams of which not all has landed on the day by the hour that a job names; of several jobs the earliest hour counts. */
async function readLateStreams(
  db: Kysely<Database>,
  nowMs: number,
  { jobs, timeZone, partsOf }: JobCauseOptions,
): Promise<readonly Cause[]> {
  const wallOf = (at: Date): WallTime => wallTimeAt(at.getTime(), timeZone)
  const servedSince = await readServedSince(db)
  const late = new Map<StreamName, Cause>()
  const promising = jobs.flatMap((job) => {
    const { provenBy } = job.definition
    return provenBy === undefined ? [] : [{ job, provenBy }]
  })
  if (promising.length === 0) return []
  const landings = await readLastLandings(db)
  for (const { job, provenBy } of promising.toSorted((a, b) => a.provenBy.localeCompare(b.provenBy))) {
    const begin = beginOfDue(provenBy, wallTimeAt(nowMs, timeZone))
    const since = servedSince.get(job.name)
    // A job that has not been served for a whole day yet has had no chance.
    if (since === undefined || wallOf(since) > begin) continue
    const streams = (await partsOf(job, { begin, timeZone })).filter(({ stream }) => !late.has(stream))
    const expected = streams.flatMap(({ stream, parts }) =>
      parts === 'any' ? [] : parts.map((part) => ({ stream, ...part })),
    )
    const unproven = await countUnproven(db, expected, { begin, timeZone })
    for (const { stream, parts } of streams) {
      const at = landings.get(stream)
      const isAnyProven = at !== undefined && wallOf(at) >= begin
      const missing = unproven.get(stream)
      if (parts === 'any' ? isAnyProven : missing === undefined) continue
      const cause = { kind: 'stale', job: job.name, stream, provenBy, provenAt: at?.toISOString() ?? null } as const
      const isNone = parts === 'any' || missing === undefined || (missing.parts === parts.length && !isAnyProven)
      late.set(stream, isNone ? cause : { ...cause, unproven: { channels: missing.channels, of: channelsIn(parts) } })
    }
  }
  return [...late.values()]
}

function channelsIn(parts: readonly { readonly part: string }[]): number {
  return new Set(parts.map(({ part }) => parsePartition(part)?.channel)).size
}

async function readUnfinished(db: Kysely<Database>, { name, definition }: Job): Promise<Cause | undefined> {
  if (!('until' in definition) || definition.until === undefined) return undefined
  const runs = await countRunsWaiting(db, name)
  return runs < RUNS_UNTIL_UNFINISHED ? undefined : { kind: 'unfinished', job: name, runs }
}

/** Midnight of the last service day of which `provenBy` has come. */
function beginOfDue(provenBy: string, now: WallTime): WallTime {
  const [hours = 0, minutes = 0] = provenBy.split(':').map(Number)
  const due = hours * 60 * MINUTE + minutes * MINUTE
  return Math.floor((now - due) / DAY) * DAY
}
