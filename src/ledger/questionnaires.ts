import { FORMS_SCHEMA, type Form } from '../bi/form-view.ts'
import { safeName, uniqueName } from '../bi/safe-names.ts'
import { type Place, partitionKey } from '../core/slice.ts'
import type { Db } from '../store/database.ts'
import { lockName } from '../store/lock-name.ts'
import { anyOf, ops, ROWS_A_STATEMENT } from './ops.ts'
import { forgetPartition } from './slices/slices.ts'

/**
 * The known questionnaires by channel. `listed` leaves out those that the last proven list no longer had; a date leaves
 * out those that proven lists have lacked since then or longer.
 */
export async function readQuestions(
  db: Db,
  which: 'all' | 'listed' | Date = 'all',
): Promise<ReadonlyMap<string, readonly string[]>> {
  const all = ops(db).selectFrom('livehouse.questionnaires').select(['channelId as channel', 'questionId as question'])
  const questions = await all.orderBy('channel').orderBy('question').execute()
  const allUnlisted = ops(db).selectFrom('unlisted_questionnaires').select('partition')
  const unlisted = which instanceof Date ? allUnlisted.where('foundAt', '<=', which) : allUnlisted
  const rows = which === 'all' ? [] : await unlisted.execute()
  const hidden = new Set(rows.map(({ partition }) => partition))
  const shown = questions.filter((each) => !hidden.has(partitionKey(each)))
  const byChannel = Map.groupBy(shown, ({ channel }) => channel)
  return new Map([...byChannel].map(([channel, group]) => [channel, group.map(({ question }) => question)]))
}

/**
 * Records, in one transaction, which known questionnaires a proven list has and which it lacks, by their partitions.
 * @returns those it lacks that were still listed at `since`
 */
export async function recordListing(
  db: Db,
  { listed, unlisted }: { readonly listed: readonly string[]; readonly unlisted: readonly string[] },
  { runId, foundAt, since }: { readonly runId: string; readonly foundAt: Date; readonly since: Date },
): Promise<readonly string[]> {
  return await db.transaction().execute(async (trx) => {
    await ops(trx).deleteFrom('unlisted_questionnaires').where('partition', '=', anyOf(listed)).execute()
    const rows = unlisted.map((partition) => ({ partition, runId, foundAt }))
    for (let start = 0; start < rows.length; start += ROWS_A_STATEMENT) {
      await ops(trx)
        .insertInto('unlisted_questionnaires')
        .values(rows.slice(start, start + ROWS_A_STATEMENT))
        .onConflict((conflict) => conflict.doNothing())
        .execute()
    }
    const recent = ops(trx).selectFrom('unlisted_questionnaires').where('foundAt', '>', since)
    const recentRows = await recent.select('partition').where('partition', '=', anyOf(unlisted)).execute()
    return recentRows.map(({ partition }) => partition)
  })
}

interface HeadersRecord extends Place {
  /** JSON text. */
  readonly title: string
  readonly runId: string
  readonly seenAt: Date
}

/** Whether the headers of a questionnaire are on record. */
export async function hasHeaders(db: Db, partition: string): Promise<boolean> {
  const headers = ops(db).selectFrom('headers').select('partition').where('partition', '=', partition)
  return (await headers.executeTakeFirst()) !== undefined
}

/**
 * Records the headers of a questionnaire. If they have changed, its whole coverage is forgotten: everything is read
 * again, so that no row keeps the old questions.
 */
export async function recordHeaders(trx: Db, headers: HeadersRecord): Promise<void> {
  const { partition, title, runId, seenAt } = headers
  const recorded = ops(trx).selectFrom('headers').where('partition', '=', partition).forUpdate()
  const before = await recorded.select(({ eb }) => eb('title', '=', title).as('isSame')).executeTakeFirst()
  if (before?.isSame) return
  const row = { title, runId, seenAt }
  const saving = ops(trx)
    .insertInto('headers')
    .values({ partition, ...row })
  await saving.onConflict((conflict) => conflict.column('partition').doUpdateSet(row)).execute()
  if (before !== undefined) await forgetPartition(trx, headers)
}

/** When and in which run the present headers of each questionnaire were first seen, by partition. */
export async function readHeadersSeen(db: Db): Promise<ReadonlyMap<string, string>> {
  const rows = await ops(db).selectFrom('headers').select(['partition', 'seenAt', 'runId']).execute()
  return new Map(rows.map(({ partition, seenAt, runId }) => [partition, `${seenAt.getTime()} in ${runId}`]))
}

type FormId = Pick<Form, 'channelId' | 'questionId'>

/** Records that a questionnaire has a view of its own; publishing creates it. @returns the view's name, new or old */
export async function addPublishedForm(db: Db, { channelId, questionId }: FormId): Promise<string> {
  return await db.transaction().execute(async (trx) => {
    await lockName(trx, 'published forms')
    const rows = await ops(trx).selectFrom('published_forms').select(['channelId', 'questionId', 'viewName']).execute()
    const present = rows.find((row) => row.channelId === channelId && row.questionId === questionId)
    if (present !== undefined) return present.viewName
    const viewName = uniqueName(safeName(`form_${questionId}`, 'form'), new Set(rows.map((row) => row.viewName)))
    await ops(trx).insertInto('published_forms').values({ channelId, questionId, viewName }).execute()
    return viewName
  })
}

/** Drops the view of a questionnaire, and the record of it. */
export async function removePublishedForm(db: Db, { channelId, questionId }: FormId, view: string): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await trx.schema.withSchema(FORMS_SCHEMA).dropView(view).ifExists().execute()
    const published = ops(trx).deleteFrom('published_forms').where('channelId', '=', channelId)
    await published.where('questionId', '=', questionId).execute()
  })
}

/** Shows the answers to these questions to every analyst, or hides them again. @param numbers of questions, from 1 */
export async function setCleared(
  db: Db,
  { channelId, questionId, questions }: Form,
  numbers: readonly number[],
  isCleared: boolean,
): Promise<void> {
  if (numbers.length === 0) return
  const cleared = ops(db).deleteFrom('cleared_questions').where('channelId', '=', channelId)
  await cleared.where('questionId', '=', questionId).where('questionNo', 'in', numbers).execute()
  if (!isCleared) return
  const rows = [...new Set(numbers)].map((questionNo) => {
    return { channelId, questionId, questionNo, question: questions[questionNo - 1] ?? '' }
  })
  await ops(db).insertInto('cleared_questions').values(rows).execute()
}
