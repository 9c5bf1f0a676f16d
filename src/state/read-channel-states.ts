import { type Kysely, sql } from 'kysely'
import type { Database } from '../db/database.ts'

/** A channel of the warehouse, and what it holds of it. */
export interface ChannelState {
  readonly channelId: string
  /** As the service has it; null until a visitor told. */
  readonly name: string | null
  readonly label: string | null
  readonly group: string | null
  readonly isTest: boolean
  readonly state: 'active' | 'retired' | 'gone'
  readonly visitors: number
  readonly watchRecords: number
  readonly lastLandedAt: Date | null
}

/** Every channel of the warehouse, by id. */
export async function readChannelStates(db: Kysely<Database>): Promise<ReadonlyMap<string, ChannelState>> {
  const { rows } = await sql<StateRow>`
    select c.channel_id, c.name, c.label, c.channel_group, c.is_test, c.state,
      coalesce(v.count, 0) as visitors, coalesce(w.count, 0) as watch_records, s.landed_at
    from livehouse.channels c
    left join (select channel_id, count(*) from livehouse.visitors where removed_at is null group by channel_id) v
      using (channel_id)
    left join (select channel_id, count(*) from livehouse.watch_records group by channel_id) w using (channel_id)
    left join (
      select channel_id, max(landed_at) as landed_at from livehouse_ops.partition_states group by channel_id
    ) s using (channel_id)
    order by c.channel_id`.execute(db)
  return new Map(rows.map((row) => [row.channel_id, stateOf(row)]))
}

interface StateRow {
  readonly channel_id: string
  readonly name: string | null
  readonly label: string | null
  readonly channel_group: string | null
  readonly is_test: boolean
  readonly state: ChannelState['state']
  readonly visitors: string
  readonly watch_records: string
  readonly landed_at: Date | null
}

function stateOf(row: StateRow): ChannelState {
  return {
    channelId: row.channel_id,
    name: row.name,
    label: row.label,
    group: row.channel_group,
    isTest: row.is_test,
    state: row.state,
    visitors: Number(row.visitors),
    watchRecords: Number(row.watch_records),
    lastLandedAt: row.landed_at,
  }
}
