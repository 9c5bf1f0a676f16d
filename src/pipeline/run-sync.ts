import { type JobResult, runJob } from './run-job.ts'
import type { Kysely } from 'kysely'
import type { Stream } from '../core/stream.ts'
import type { Database } from '../db/database.ts'
import { planSync, type SyncPlan } from './plan-sync.ts'
import type { RunDeps } from './slice-work.ts'
import type { FoundRows } from './extraction.ts'

/**
 * Brings streams up to now: first those that stand on their own, then those that are read questionnaire by questionnaire.
 */
export async function runSync(
  plan: Omit<SyncPlan, 'questionsOf'>,
  deps: RunDeps,
  concurrency: number,
): Promise<JobResult> {
  const listed = new Map<string, FoundRows>()
  const isDependent = ({ partitionedBy }: Stream) => partitionedBy === 'channel/question'
  const phases = [
    async () =>
      planSync({ ...plan, streams: plan.streams.filter((stream) => !isDependent(stream)), questionsOf: () => [] }),
    async () => {
      const questions = await readQuestions(deps.db)
      // A questionnaire that the service no longer lists is not asked for; where its list could not be read, all are.
      const questionsOf = (channelId: string) =>
        (questions.get(channelId) ?? []).filter((id) => listed.get(channelId)?.has(id) ?? true)
      return planSync({ ...plan, streams: plan.streams.filter(isDependent), questionsOf })
    },
  ]
  return await runJob(plan.streams, phases, deps, concurrency, ({ stream, partition }, { found }) => {
    if (stream.name === 'questionnaires' && partition.channel && found) listed.set(partition.channel, found)
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
