import type { Kysely } from 'kysely'
import { partitionKey } from '../core/slice.ts'
import type { Stream } from '../core/stream.ts'
import type { Database } from '../db/database.ts'
import type { FoundRows } from './extraction.ts'
import type { QuestionsOf } from './partitions.ts'
import { planSync, type SyncPlan } from './plan-sync.ts'
import { type JobOptions, runJob } from './run-job.ts'
import type { RunDeps } from './slice-work.ts'
import type { JobResult } from './tally.ts'

/**
 * Brings streams up to now: first those that stand on their own, then those that are read questionnaire by questionnaire, then
 * again those questionnaires whose headers have changed.
 */
export async function runSync(plan: SyncPlan, deps: RunDeps, options: Omit<JobOptions, 'onEnd'>): Promise<JobResult> {
  const { db } = deps
  const listed = new Map<string, FoundRows>()
  const changed = new Set<string>()
  const isDependent = ({ partitionedBy }: Stream) => partitionedBy === 'channel/question'
  const dependent = { ...plan, streams: plan.streams.filter(isDependent) }

  /** A questionnaire that the service no longer lists is not asked for; where its list could not be read, all are. */
  const readQuestionsOf = async (): Promise<QuestionsOf> => {
    const questions = await readQuestions(db)
    return (channelId) => (questions.get(channelId) ?? []).filter((id) => listed.get(channelId)?.has(id) ?? true)
  }
  const phases = [
    async () =>
      await planSync(db, { ...plan, streams: plan.streams.filter((stream) => !isDependent(stream)) }, () => []),
    async () => await planSync(db, dependent, await readQuestionsOf()),
    async () => {
      if (changed.size === 0) return []
      const plans = await planSync(db, dependent, await readQuestionsOf())
      return plans.filter(({ partition }) => changed.has(partitionKey(partition)))
    },
  ]
  return await runJob(plan.streams, phases, deps, {
    ...options,
    onEnd: ({ stream, partition }, { found, hasNewHeaders }) => {
      if (stream.name === 'questionnaires' && partition.channel && found) listed.set(partition.channel, found)
      if (hasNewHeaders) changed.add(partitionKey(partition))
    },
  })
}

async function readQuestions(db: Kysely<Database>): Promise<ReadonlyMap<string, readonly string[]>> {
  const rows = await db
    .selectFrom('livehouse.questionnaires')
    .select(['channel_id', 'question_id'])
    .orderBy('channel_id')
    .orderBy('question_id')
    .execute()
  const byChannel = Map.groupBy(rows, ({ channel_id }) => channel_id)
  return new Map([...byChannel].map(([channelId, group]) => [channelId, group.map(({ question_id }) => question_id)]))
}
