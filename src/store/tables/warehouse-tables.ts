import type { ColumnType, Generated } from 'kysely'
import type { BigInteger, OptionalBigInteger, OptionalJson } from '../column-types.ts'

export interface ChannelsTable {
  channel_id: string
  name: string | null
  admin_id: OptionalBigInteger
  label: string | null
  channel_group: string | null
  is_test: Generated<boolean>
  state: Generated<'active' | 'retired' | 'gone'>
  extra: OptionalJson
  run_id: BigInteger
  inserted_at: Generated<Date>
  changed_at: ColumnType<Date, Date | undefined, Date>
}

/** The columns that other streams are planned by. */
export interface QuestionnairesTable {
  channel_id: string
  question_id: string
}
