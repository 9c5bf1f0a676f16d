import type { Kysely } from 'kysely'
import type { Database } from '../db/database.ts'

/** The known questionnaires by channel. */
export async function readQuestions(db: Kysely<Database>): Promise<ReadonlyMap<string, readonly string[]>> {
  const rows = await db
    .selectFrom('livehouse.questionnaires')
    .select(['channel_id', 'question_id'])
    .orderBy('channel_id')
    .orderBy('question_id')
    .execute()
  const byChannel = Map.groupBy(rows, ({ channel_id }) => channel_id)
  return new Map([...byChannel].map(([channelId, group]) => [channelId, group.map(({ question_id }) => question_id)]))
}
