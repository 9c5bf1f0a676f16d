import { type Kysely, sql } from 'kysely'
import type { Form } from '../form-view.ts'
import type { Database } from '../../store/database.ts'

/** A questionnaire of the warehouse, published or not. */
export interface KnownForm extends Form {
  /** Whether its headers are known: some of its signups have been read. */
  readonly hasHeaders: boolean
  /** Name of its view in `livehouse_forms`; null where it has none. */
  readonly view: string | null
  /** Of the view as it was last made. */
  readonly fingerprint: string | null
  /** Columns of the view as it is, in order; none where it is not there. */
  readonly viewColumns: readonly string[]
  /** Headers of questions whose answers every analyst may see; empty for one without a header. */
  readonly cleared: readonly string[]
  readonly signupCount: number
}

/** Every questionnaire, by channel. `isCounted`: with the number of its signups, else 0. User id, nickname, phone and signup time (API 2.9) are no questions. */
export async function readForms(db: Kysely<Database>, { isCounted = false } = {}): Promise<readonly KnownForm[]> {
  const count = sql`(select count(*)::integer from livehouse.signups s
        where s.channel_id = q.channel_id and s.question_id = q.question_id and s.removed_at is null)`
  const { rows } = await sql<KnownForm>`
    select q.channel_id as "channelId", q.question_id as "questionId", q.name as title, p.view_name as view, p.fingerprint,
      h.title is not null as "hasHeaders",
      array(
        select case jsonb_typeof(t.header) when 'null' then null when 'string' then nullif(t.header #>> '{}', '') else t.header::text end
        from jsonb_array_elements(h.title) with ordinality t (header, no)
        where t.no > 3 and t.no < jsonb_array_length(h.title) order by t.no
      ) as questions,
      array(
        select a.attname::text from pg_attribute a
        where a.attrelid = to_regclass('livehouse_forms.' || quote_ident(p.view_name)) and a.attnum > 0 order by a.attnum
      ) as "viewColumns",
      array(select c.question from livehouse_ops.cleared_questions c
        where c.channel_id = q.channel_id and c.question_id = q.question_id order by 1) as cleared,
      ${isCounted ? count : sql`0`} as "signupCount"
    from livehouse.questionnaires q
      left join livehouse_ops.published_forms p on p.channel_id = q.channel_id and p.question_id = q.question_id
      left join livehouse_ops.headers h on h.partition = 'channel=' || q.channel_id || '/question=' || q.question_id
    order by q.channel_id, q.created_at, q.question_id`.execute(db)
  return rows
}
