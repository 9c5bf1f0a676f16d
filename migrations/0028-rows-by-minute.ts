import { type Kysely, sql } from 'kysely'

/**
 * Rows without an id are told apart by the minute of their time, no longer by its second, and items in quarantine know where
 * they may lie. What is in the tables gets the keys that the next reading gives it.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE livehouse_ops.quarantine ADD COLUMN lies_in tsmultirange`.execute(db)
  await sql`COMMENT ON COLUMN livehouse_ops.quarantine.lies_in IS
    'Where the item may lie, in the service''s time: what was asked for when it came, without what was read later and did not bring it; NULL for whole lists'`.execute(
    db,
  )
  const minute = (time: string) => `to_char(${time} AT TIME ZONE time_zone, 'YYYY-MM-DD HH24:MI')`
  const gift = `concat(${minute('given_at')}, '|', gift_id, '|', amount)`
  const signup = `concat(${minute('signed_up_at')}, '|', user_id)`
  const numberOf = (parent: string, shared: string, time: string) =>
    `row_number() OVER (PARTITION BY ${parent}, ${shared} ORDER BY removed_at NULLS FIRST, ${time}, occurrence)`
  await giveKeys(db, {
    gift: `concat(${gift}, '#', ${numberOf('channel_id, gift_type', gift, 'given_at')})`,
    signup: `concat(${signup}, '#', ${numberOf('channel_id, question_id', signup, 'signed_up_at')})`,
  })
}

export async function down(db: Kysely<unknown>): Promise<void> {
  const second = (time: string) => `to_char(${time} AT TIME ZONE time_zone, 'YYYY-MM-DD HH24:MI:SS')`
  const json = (column: string) => `coalesce(to_json(${column}::text)::text, 'null')`
  await giveKeys(db, {
    gift: `concat('["', ${second('given_at')}, '",', ${json('gift_id')}, ',', ${json('amount')}, ']#', occurrence)`,
    signup: `concat('[', ${json('user_id')}, ',"', ${second('signed_up_at')}, '"]#', occurrence)`,
  })
  await sql`ALTER TABLE livehouse_ops.quarantine DROP COLUMN lies_in`.execute(db)
}

/** Rows that one reading has missed are missed anew, under their new keys. */
async function giveKeys(
  db: Kysely<unknown>,
  identity: { readonly gift: string; readonly signup: string },
): Promise<void> {
  const hash = (text: string) => sql.raw(`left(encode(sha256(convert_to(${text}, 'UTF8')), 'hex'), 32)`)
  await sql`DELETE FROM livehouse_ops.missed_rows WHERE stream IN ('gifts', 'signups')`.execute(db)
  await sql`
    UPDATE livehouse.gifts SET gift_key = fresh.gift_key
    FROM (
      SELECT channel_id, gift_type, gift_key AS old_key, ${hash(identity.gift)} AS gift_key
      FROM livehouse.gifts, livehouse_ops.source WHERE given_at IS NOT NULL
    ) AS fresh
    WHERE (gifts.channel_id, gifts.gift_type, gifts.gift_key) = (fresh.channel_id, fresh.gift_type, fresh.old_key)`.execute(
    db,
  )
  await sql`
    WITH fresh AS (
      SELECT channel_id, question_id, signup_key AS old_key, ${hash(identity.signup)} AS signup_key
      FROM livehouse.signups, livehouse_ops.source WHERE signed_up_at IS NOT NULL
    ),
    answers AS (
      UPDATE livehouse.signup_answers AS answer SET signup_key = fresh.signup_key FROM fresh
      WHERE (answer.channel_id, answer.question_id, answer.signup_key) = (fresh.channel_id, fresh.question_id, fresh.old_key)
    )
    UPDATE livehouse.signups SET signup_key = fresh.signup_key FROM fresh
    WHERE (signups.channel_id, signups.question_id, signups.signup_key) = (fresh.channel_id, fresh.question_id, fresh.old_key)`.execute(
    db,
  )
}
