import { type Kysely, sql } from 'kysely'

/** What the views of livehouse_bi rest on beside the records: settings, the key of their hashes, what operators add. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
  for (const [table, comment] of Object.entries(tables)) {
    await sql`COMMENT ON TABLE ${sql.table(`livehouse_ops.${table}`)} IS ${sql.lit(comment)}`.execute(db)
  }
  for (const [table, columns] of Object.entries(comments)) {
    for (const [column, comment] of Object.entries(columns)) {
      const name = sql`${sql.table(`livehouse_ops.${table}`)}.${sql.ref(column)}`
      await sql`COMMENT ON COLUMN ${name} IS ${sql.lit(comment)}`.execute(db)
    }
  }
}

/** A new `up` makes a new key: the hashes of open ids, and with them saved extracts, no longer join. */
export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`DROP INDEX livehouse.watch_records_viewer`.execute(db)
  for (const table of Object.keys(tables)) {
    await sql`DROP TABLE ${sql.table(`livehouse_ops.${table}`)}`.execute(db)
  }
}

const statements: readonly string[] = [
  `CREATE TABLE livehouse_ops.bi_settings (
    currency text,
    masked text[] NOT NULL DEFAULT '{phone,ip,open_id,nickname,address,answers}',
    language text NOT NULL DEFAULT 'en' CHECK (language IN ('en', 'zh')),
    fingerprint text,
    time_zone text,
    views text[] NOT NULL DEFAULT '{}'
  )`,
  'CREATE UNIQUE INDEX bi_settings_single ON livehouse_ops.bi_settings ((true))',
  'INSERT INTO livehouse_ops.bi_settings DEFAULT VALUES',
  'CREATE TABLE livehouse_ops.hash_key (inner_pad bytea NOT NULL, outer_pad bytea NOT NULL)',
  'CREATE UNIQUE INDEX hash_key_single ON livehouse_ops.hash_key ((true))',
  // HMAC by its definition (RFC 2104), so that pgcrypto is not needed: the key, filled up to a block, XOR 0x36 and 0x5c.
  `DO $$
  DECLARE
    secret bytea := sha256(convert_to(concat(gen_random_uuid(), gen_random_uuid(), gen_random_uuid()), 'UTF8'));
    inner_pad bytea := secret || decode(repeat('00', 32), 'hex');
    outer_pad bytea := inner_pad;
  BEGIN
    FOR i IN 0..63 LOOP
      inner_pad := set_byte(inner_pad, i, get_byte(inner_pad, i) # 54);
      outer_pad := set_byte(outer_pad, i, get_byte(outer_pad, i) # 92);
    END LOOP;
    INSERT INTO livehouse_ops.hash_key VALUES (inner_pad, outer_pad);
  END $$`,
  `CREATE TABLE livehouse_ops.gift_labels (
    gift_type text NOT NULL CHECK (gift_type IN ('cash', 'prop')),
    gift_id bigint NOT NULL,
    label text NOT NULL,
    gift_group text,
    PRIMARY KEY (gift_type, gift_id)
  )`,
  `CREATE TABLE livehouse_ops.cleared_questions (
    channel_id text NOT NULL,
    question_id text NOT NULL,
    question text NOT NULL,
    cleared_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (channel_id, question_id, question)
  )`,
  'CREATE INDEX watch_records_viewer ON livehouse.watch_records (channel_id, user_id)',
]

const tables = {
  bi_settings: 'What the views of livehouse_bi show, and how they were made: one row',
  hash_key: 'The key of the hashes in livehouse_bi (HMAC-SHA256): one row; who reads it can find out what was hashed',
  gift_labels: 'What operators call the gifts',
  cleared_questions: 'Questions whose answers every analyst may see',
}

const comments = {
  bi_settings: {
    currency: 'Currency of gifts (LIVEHOUSE_CURRENCY); NULL while nobody has named it',
    masked: 'Kinds of personal data that are masked (LIVEHOUSE_MASK)',
    language: 'Language of the comments in livehouse_bi',
    fingerprint: 'Of the views as they were last made; NULL before that',
    time_zone: 'Zone that the views were made for; NULL before that',
    views: 'Names of the views that livehouse made in livehouse_bi',
  },
  hash_key: {
    inner_pad: 'The key, XOR 0x36',
    outer_pad: 'The key, XOR 0x5c',
  },
  gift_labels: {
    gift_type: 'cash or prop',
    gift_id: 'Prop id',
    label: 'What the operator calls the gift',
    gift_group: 'The group that the operator puts the gift in',
  },
  cleared_questions: {
    channel_id: 'Channel id',
    question_id: 'Questionnaire hash id',
    question: 'Header of the question; empty where it has none. With another header it is another question',
    cleared_at: 'When it was cleared',
  },
}
