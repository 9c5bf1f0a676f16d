import type { Kysely } from 'kysely'
import { noSlices, type RunOutcome } from '../core/outcome.ts'
import type { Window } from '../core/slice.ts'
import type { StreamName } from '../core/stream.ts'
import { formatWallTime } from '../core/wall-clock.ts'
import { forgetCoverage } from '../ledger/coverage.ts'
import { readSource } from '../ledger/source.ts'
import { parseExact } from '../service/json.ts'
import type { Database } from '../store/database.ts'
import { allStreams } from '../streams/registry.ts'
import { retryQuarantine, type RetryResult } from '../sync/retry-quarantine.ts'
import { itemReader } from '../transform/field.ts'
import type { AppContext } from './context.ts'
import { outcomeObject } from './outcome.ts'
import { recordRun } from './record-run.ts'

/** What an operator does beside reading, from the page. Each is a run on record, with who asked for it. */
export interface OperatorActions {
  /** Queues a run of a job, unless it is running. `none`: there is no job of this name */
  readonly runJob: (job: string, askedBy: string) => Promise<'queued' | 'running' | 'none'>
  /** Puts all that is in quarantine through today's transformers. @returns the run */
  readonly retryQuarantine: (askedBy: string) => Promise<string | null>
  /** Takes a range of a channel out of what is covered, so that the next sync reads it again. @returns the run */
  readonly reopen: (range: ReopenedRange, askedBy: string) => Promise<string | null>
}

export interface ReopenedRange {
  /** One that is filtered by time. */
  readonly stream: StreamName
  readonly channelId: string
  readonly window: Window
}

/** The commands of their runs. */
export const operatorCommands = ['quarantine retry', 'ledger forget']

/** `runJob`: queues it. */
export function createOperatorActions(
  context: AppContext,
  db: Kysely<Database>,
  runJob: OperatorActions['runJob'],
): OperatorActions {
  return {
    runJob,
    retryQuarantine: async (askedBy) =>
      await runIdOf({ ...context, askedBy }, db, 'quarantine retry', {}, async () => {
        const { streams, readAgain } = await retryAll(context, db, undefined)
        const counted = [...streams].map(([stream, counts]) => [stream, { counts, slices: noSlices }])
        return { streams: Object.fromEntries(counted), found: { read_again: readAgain } }
      }),
    reopen: async ({ stream, channelId, window }, askedBy) => {
      const asked = { stream, channel: channelId, from: formatWallTime(window.from), to: formatWallTime(window.to) }
      return await runIdOf({ ...context, askedBy }, db, 'ledger forget', asked, async () => ({
        streams: {},
        found: { forgotten: await forgetCoverage(db, { streams: [stream], channels: [channelId], window }) },
      }))
    },
  }
}

interface ActionOutcome extends RunOutcome {
  readonly found: object
}

async function runIdOf(
  context: AppContext,
  db: Kysely<Database>,
  command: string,
  asked: Readonly<Record<string, string>>,
  work: () => Promise<Pick<ActionOutcome, 'streams' | 'found'>>,
): Promise<string | null> {
  const toRecord = (outcome: ActionOutcome) => ({ ...outcomeObject(outcome), ...outcome.found })
  const recorded = await recordRun<ActionOutcome>(context, { db, command, asked, toRecord }, async () => ({
    status: 'ok',
    resumesAt: null,
    errors: [],
    ...(await work()),
  }))
  return 'error' in recorded ? recorded.failure.runId : recorded.outcome.runId
}

/** Puts what is in quarantine through today's transformers. @param names of all streams when undefined */
export async function retryAll(
  { clock, signal }: Pick<AppContext, 'clock' | 'signal'>,
  db: Kysely<Database>,
  names: readonly StreamName[] | undefined,
): Promise<RetryResult> {
  // Before the first sync there is nothing in quarantine, and no zone.
  const timeZone = (await readSource(db))?.timeZone ?? 'UTC'
  const now = () => clock.now()
  const deps = { db, streams: allStreams, openItemReader: itemReader, parse: parseExact, now, signal, timeZone }
  return await retryQuarantine(deps, names)
}
