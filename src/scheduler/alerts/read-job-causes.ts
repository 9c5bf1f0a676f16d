import type { Kysely } from 'kysely'
import { jobStreams } from '../../app/run-job.ts'
import { type ChannelSetting, plannedChannel } from '../../app/settings.ts'
import type { Cause } from '../../core/cause.ts'
import type { Job } from '../../core/define-job.ts'
import type { Stream } from '../../core/stream.ts'
import { DAY, MINUTE, type WallTime, wallTimeAt } from '../../core/wall-clock.ts'
import { readChannelList, readChannelsBefore } from '../../ledger/channel-states.ts'
import { countRunsWaiting, readServedSince } from '../../ledger/jobs.ts'
import { type LedgerUnit, readLedgerUnits } from '../../ledger/latest-readings.ts'
import type { Database } from '../../store/database.ts'

/** The kinds that only who knows the jobs can tell of. */
export const JOB_CAUSES = ['stale', 'unfinished'] as const

export interface JobCauseOptions {
  /** Those that are served. */
  readonly jobs: readonly Job[]
  /** Of the service: its day, and the clock of `provenBy`. */
  readonly timeZone: string
  /** The configured channels, read anew each time. @throws config.invalid */
  readonly readChannels: () => readonly ChannelSetting[]
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
  { jobs, timeZone, readChannels }: JobCauseOptions,
): Promise<readonly Cause[]> {
  const promising = jobs.flatMap((job) => {
    const { provenBy } = job.definition
    return provenBy === undefined ? [] : [{ job, provenBy }]
  })
  if (promising.length === 0) return []
  const servedSince = await readServedSince(db)
  const states = new Map((await readChannelList(db)).map(({ channelId, state }) => [channelId, state]))
  // Before the first run nothing is known of any.
  const channels = readChannels().filter(({ channelId }) => states.size === 0 || states.get(channelId) === 'active')
  const units = await readLedgerUnits(db, timeZone)
  const late = new Map<string, Cause>()
  for (const { job, provenBy } of promising.toSorted((a, b) => a.provenBy.localeCompare(b.provenBy))) {
    const begin = beginOfDue(provenBy, wallTimeAt(nowMs, timeZone))
    const since = servedSince.get(job.name)
    const isOld = (at: Date | null | undefined) => !at || wallTimeAt(at.getTime(), timeZone) < begin
    // A job that has not been served for a whole day yet has had no chance.
    if (since === undefined || wallTimeAt(since.getTime(), timeZone) > begin) continue
    const open = channels.filter((channel) => isRead(job, channel, begin)).map(({ channelId }) => channelId)
    let before: ReadonlySet<string> | undefined
    for (const stream of jobStreams(job).filter(({ name }) => !late.has(name))) {
      const ofStream = units.filter((unit) => unit.stream === stream.name)
      const day = { job, stream, ids: open, units: ofStream, isOld }
      if (countUnproven(day) === undefined) continue
      // Looks through the ledger, so only where something is late.
      const known = (before ??= await readChannelsBefore(db, begin, timeZone))
      // One that has come back, or is new, may be read over several runs: it is waited for from the next day on.
      const isBack = (id: string) =>
        !known.has(id) && units.some(({ channelId, lastLandedAt }) => channelId === id && !isOld(lastLandedAt))
      // Where there was none, the service was away: that is no excuse.
      const unproven = countUnproven({ ...day, ids: open.filter((id) => known.size === 0 || !isBack(id)) })
      if (unproven === undefined) continue
      const [last] = ofStream.flatMap(({ lastLandedAt }) => lastLandedAt ?? []).toSorted((a, b) => +b - +a)
      const provenAt = last?.toISOString() ?? null
      late.set(stream.name, { kind: 'stale', job: job.name, stream: stream.name, provenBy, provenAt, ...unproven })
    }
  }
  return [...late.values()]
}

interface Day {
  readonly job: Job
  readonly stream: Stream
  /** The channels of the job. */
  readonly ids: readonly string[]
  /** Of the stream. */
  readonly units: readonly LedgerUnit[]
  readonly isOld: (at: Date | null | undefined) => boolean
}

/** Of how many channels the day has brought not all, where some were read; undefined where nothing is missing. */
function countUnproven({
  job,
  stream,
  ids,
  units,
  isOld,
}: Day): Pick<Extract<Cause, { kind: 'stale' }>, 'unproven'> | undefined {
  const { partitionedBy, isBudgeted = false } = stream
  const expected = (partitionedBy === 'account' ? [null] : ids)
    .map((id) => units.find(({ channelId }) => channelId === id))
    // A channel without questionnaires has nothing to be read.
    .filter((unit) => unit !== undefined || partitionedBy !== 'channel/question')
  const missing = expected.filter((unit) => isOld(unit?.landedAt))
  const isAnyRead = expected.some((unit) => !isOld(unit?.lastLandedAt))
  // What reads a part at a time brings something each day, and not all of it.
  if (missing.length === 0 || (isAnyRead && (job.kind !== 'sync' || isBudgeted))) return undefined
  return isAnyRead ? { unproven: { channels: missing.length, of: expected.length } } : {}
}

/** Whether a job is for a channel, and the channel neither over on the day nor yet to come. */
function isRead({ definition }: Job, channel: ChannelSetting, begin: WallTime): boolean {
  const { channels = 'all' } = definition
  const { channelId, from, until } = plannedChannel(channel)
  const isOpen = (from === undefined || from < begin) && (until === undefined || until > begin)
  if (channels === 'all' || !isOpen) return isOpen
  return 'group' in channels ? channel.group === channels.group : channels.includes(channelId)
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
