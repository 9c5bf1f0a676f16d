import { type Kysely, sql } from 'kysely'
import type { Database } from '../store/database.ts'

/** A kind of gift and what the operator calls it. */
export interface GiftLabel {
  readonly giftType: 'cash' | 'prop'
  /** Decimal digits. */
  readonly giftId: string
  /** Null for none: a kind that was given and has no label, or one that is to lose it. */
  readonly label: string | null
  readonly group: string | null
}

/** How many labels were new, other than before, as before, and taken away. */
export interface LabelCounts {
  readonly inserted: number
  readonly updated: number
  readonly unchanged: number
  readonly removed: number
}

/** Writes labels, all or none; kinds that are not among them keep theirs. */
export async function writeGiftLabels(db: Kysely<Database>, labels: readonly GiftLabel[]): Promise<LabelCounts> {
  const given = labels.map(({ giftType, giftId, label, group }) => ({ giftType, giftId, label, group }))
  const { rows } = await sql<LabelCounts>`
    with given as (
      select "giftType" as gift_type, "giftId" as gift_id, label, "group" as gift_group
      from jsonb_to_recordset(${JSON.stringify(given)}::jsonb) as g ("giftType" text, "giftId" bigint, label text, "group" text)
    ),
    known as (select g.*, l.label is not null as is_known, (l.label, l.gift_group) is not distinct from (g.label, g.gift_group) as is_same
      from given g left join livehouse_ops.gift_labels l using (gift_type, gift_id)),
    removed as (
      delete from livehouse_ops.gift_labels l using known k
      where k.label is null and l.gift_type = k.gift_type and l.gift_id = k.gift_id returning 1
    ),
    written as (
      insert into livehouse_ops.gift_labels (gift_type, gift_id, label, gift_group)
      select gift_type, gift_id, label, gift_group from known where label is not null and not is_same
      on conflict (gift_type, gift_id) do update set label = excluded.label, gift_group = excluded.gift_group
    )
    select count(*) filter (where label is not null and not is_known)::integer as inserted,
      count(*) filter (where label is not null and is_known and not is_same)::integer as updated,
      count(*) filter (where label is not null and is_same)::integer as unchanged,
      (select count(*)::integer from removed) as removed
    from known`.execute(db)
  return rows[0] ?? { inserted: 0, updated: 0, unchanged: 0, removed: 0 }
}

/** Every kind of gift that was given or has a label, with how often it was given. */
export async function readGiftLabels(
  db: Kysely<Database>,
): Promise<readonly (GiftLabel & { readonly count: number })[]> {
  const { rows } = await sql<GiftLabel & { readonly count: number }>`
    with given as (
      select gift_type, gift_id, count(*)::integer as count from livehouse.gifts
      where gift_id is not null and removed_at is null group by gift_type, gift_id
    )
    select gift_type as "giftType", gift_id::text as "giftId", label, gift_group as "group", coalesce(count, 0) as count
    from given full join livehouse_ops.gift_labels using (gift_type, gift_id) order by gift_type, gift_id`.execute(db)
  return rows
}
