import type { Kysely } from 'kysely'
import type { Database } from '../db/database.ts'

/** A channel of the warehouse. */
export interface ListedChannel {
  readonly channelId: string
  /** As the service has it; null until a visitor told. */
  readonly name: string | null
  readonly label: string | null
  readonly group: string | null
  readonly isTest: boolean
  readonly state: 'active' | 'retired' | 'gone'
}

/** Every channel, by id. */
export async function readChannelList(db: Kysely<Database>): Promise<readonly ListedChannel[]> {
  const rows = await db
    .selectFrom('livehouse.channels')
    .select(['channel_id', 'name', 'label', 'channel_group', 'is_test', 'state'])
    .orderBy('channel_id')
    .execute()
  return rows.map(({ channel_id, name, label, channel_group, is_test, state }) => ({
    channelId: channel_id,
    name,
    label,
    group: channel_group,
    isTest: is_test,
    state,
  }))
}
