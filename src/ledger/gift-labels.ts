import { sql } from 'kysely'
import type { Db } from '../store/database.ts'

/** A kind of gift and what the operator calls it. */
export interface GiftLabel {
  readonly giftType: 'cash' | 'prop'
  /** Decimal digits. */
  readonly giftId: string
  /** Null for none. Writing null removes the label. */
  readonly label: string | null
  readonly group: string | null
}

/** Writes labels, all or none. Kinds of gifts that are not given keep theirs. */
export async function writeGiftLabels(db: Db, labels: readonly GiftLabel[]): Promise<void> {
  // The builder cannot read rows from a JSON document.
  await sql`
    with given as (
      select "giftType" as gift_type, "giftId" as gift_id, label, "group" as gift_group
      from jsonb_to_recordset(${JSON.stringify(labels)}::jsonb)
        as g ("giftType" text, "giftId" bigint, label text, "group" text)
    ),
    removed as (
      delete from livehouse_ops.gift_labels l using given g
      where g.label is null and l.gift_type = g.gift_type and l.gift_id = g.gift_id
    )
    insert into livehouse_ops.gift_labels (gift_type, gift_id, label, gift_group)
    select gift_type, gift_id, label, gift_group from given where label is not null
    on conflict (gift_type, gift_id) do update set label = excluded.label, gift_group = excluded.gift_group`.execute(db)
}

/** Every kind of gift that was given or has a label. */
export async function readGiftLabels(db: Db): Promise<readonly GiftLabel[]> {
  // The builder does not know the tables of streams.
  const { rows } = await sql<GiftLabel>`
    select gift_type as "giftType", gift_id::text as "giftId", label, gift_group as "group"
    from (
        select distinct gift_type, gift_id from livehouse.gifts where gift_id is not null and removed_at is null
      ) as given full join livehouse_ops.gift_labels using (gift_type, gift_id) order by gift_type, gift_id`.execute(db)
  return rows
}
