import { type Kysely, sql } from 'kysely'
import { type Form, FORMS_SCHEMA } from '../bi/form-view.ts'
import { quoteName } from '../bi/quote.ts'
import { safeName, uniqueName } from '../bi/safe-names.ts'
import type { StreamName } from '../core/stream.ts'
import type { Database } from '../store/database.ts'
import { ops } from './ops.ts'

/** The known questionnaires by channel; `listed`: without those that the last proven list no longer had. */
export async function readQuestions(
  db: Kysely<Database>,
  which: 'all' | 'listed' = 'all',
): Promise<ReadonlyMap<string, readonly string[]>> {
  const known = ops(db).selectFrom('livehouse.questionnaires').select(['channelId', 'questionId'])
  const isListed = sql<boolean>`not exists (select from livehouse_ops.unlisted_questionnaires
    where partition = 'channel=' || channel_id || '/question=' || question_id)`
  const chosen = which === 'all' ? known : known.where(isListed)
  const rows = await chosen.orderBy('channelId').orderBy('questionId').execute()
  const byChannel = Map.groupBy(rows, ({ channelId }) => channelId)
  return new Map([...byChannel].map(([channelId, group]) => [channelId, group.map(({ questionId }) => questionId)]))
}

/** Remembers which known questionnaires, by their partitions, a proven list has, and which it has no longer. */
export async function recordListing(
  db: Kysely<Database>,
  { listed, unlisted }: { readonly listed: readonly string[]; readonly unlisted: readonly string[] },
  { runId, foundAt }: { readonly runId: string; readonly foundAt: Date },
): Promise<void> {
  await sql`
    with back as (delete from livehouse_ops.unlisted_questionnaires where partition = any(${listed}::text[]))
    insert into livehouse_ops.unlisted_questionnaires (partition, run_id, found_at)
    select partition, ${runId}::bigint, ${foundAt} from unnest(${unlisted}::text[]) as partition
    on conflict (partition) do nothing`.execute(db)
}

export interface SeenHeaders {
  readonly stream: StreamName
  readonly partition: string
  /** JSON text. */
  readonly title: string
  readonly runId: string
  readonly seenAt: Date
}

/**
 * Remembers the headers of a questionnaire. Where they are not what they were, everything that was covered until now is
 * forgotten: all of it is read again, so that no row keeps its old questions. @returns whether they changed
 */
export async function rememberHeaders(trx: Kysely<Database>, headers: SeenHeaders): Promise<boolean> {
  const { stream, partition, title, runId, seenAt } = headers
  const known = ops(trx).selectFrom('headers').where('partition', '=', partition).forUpdate()
  const before = await known.select(({ eb }) => eb('title', '=', title).as('isSame')).executeTakeFirst()
  if (before?.isSame) return false
  const row = { title, runId, seenAt }
  const saving = ops(trx)
    .insertInto('headers')
    .values({ partition, ...row })
  await saving.onConflict((conflict) => conflict.column('partition').doUpdateSet(row)).execute()
  if (before === undefined) return false
  const slices = ops(trx).updateTable('slices').where('stream', '=', stream).where('partition', '=', partition)
  await slices.set({ status: 'forgotten' }).where('status', '=', 'landed').execute()
  return true
}

interface FormId {
  readonly channelId: string
  readonly questionId: string
}

/** Remembers that a questionnaire is to have a view; publishing makes it. @returns its name, also of an old one */
export async function addPublishedForm(db: Kysely<Database>, { channelId, questionId }: FormId): Promise<string> {
  return await db.transaction().execute(async (trx) => {
    await sql`lock table livehouse_ops.published_forms in share row exclusive mode`.execute(trx)
    const { rows } = await sql<{ channelId: string; questionId: string; view: string }>`
      select channel_id as "channelId", question_id as "questionId", view_name as view
      from livehouse_ops.published_forms`.execute(trx)
    const present = rows.find((row) => row.channelId === channelId && row.questionId === questionId)
    if (present !== undefined) return present.view
    const view = uniqueName(safeName(`form_${questionId}`, 'form'), new Set(rows.map((row) => row.view)))
    await sql`insert into livehouse_ops.published_forms (channel_id, question_id, view_name)
      values (${channelId}, ${questionId}, ${view})`.execute(trx)
    return view
  })
}

/** Takes the view of a questionnaire away, and that it is to have one. */
export async function removePublishedForm(
  db: Kysely<Database>,
  { channelId, questionId }: FormId,
  view: string,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await sql.raw(`drop view if exists ${FORMS_SCHEMA}.${quoteName(view)}`).execute(trx)
    await sql`delete from livehouse_ops.published_forms
      where channel_id = ${channelId} and question_id = ${questionId}`.execute(trx)
  })
}

/** Lets every analyst see the answers to these questions, or no longer. @param numbers from 1, as the headers stand */
export async function setCleared(
  db: Kysely<Database>,
  { channelId, questionId, questions }: Form,
  numbers: readonly number[],
  isCleared: boolean,
): Promise<void> {
  const headers = numbers.map((number) => questions[number - 1] ?? '')
  await sql`delete from livehouse_ops.cleared_questions where channel_id = ${channelId} and question_id = ${questionId}
    and question_no = any (${numbers}::smallint[])`.execute(db)
  if (!isCleared) return
  await sql`insert into livehouse_ops.cleared_questions (channel_id, question_id, question_no, question)
    select distinct ${channelId}, ${questionId}, q.* from unnest(${numbers}::smallint[], ${headers}::text[]) q`.execute(
    db,
  )
}
