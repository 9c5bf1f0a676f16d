import { type Kysely, sql } from 'kysely'
import type { ChannelFacts } from '../core/stream.ts'
import type { Database } from './database.ts'

/** What the operator's configuration says of a channel. */
export interface ConfiguredChannel {
  readonly channelId: string
  readonly label: string | null
  readonly group: string | null
  readonly isTest: boolean
}

/**
 * Gives every configured channel a row, and marks those that are no longer configured as retired. Rows that say the
 * same already are not touched. Rows that are compared are plainer as they are written.
 */
export async function registerChannels(
  db: Kysely<Database>,
  channels: readonly ConfiguredChannel[],
  runId: string,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    if (channels.length > 0) {
      await trx
        .insertInto('livehouse.channels')
        .values(
          channels.map(({ channelId, label, group, isTest }) => ({
            channel_id: channelId,
            label,
            channel_group: group,
            is_test: isTest,
            run_id: runId,
          })),
        )
        .onConflict((conflict) =>
          conflict
            .column('channel_id')
            .doUpdateSet((eb) => ({
              label: eb.ref('excluded.label'),
              channel_group: eb.ref('excluded.channel_group'),
              is_test: eb.ref('excluded.is_test'),
              state: sql`case channels.state when 'retired' then 'active' else channels.state end`,
              run_id: runId,
              changed_at: eb.fn<Date>('now'),
            }))
            .where(sql<boolean>`(channels.label, channels.channel_group, channels.is_test, channels.state = 'retired')
              is distinct from (excluded.label, excluded.channel_group, excluded.is_test, false)`),
        )
        .execute()
    }
    const configured = channels.map(({ channelId }) => channelId)
    await trx
      .updateTable('livehouse.channels')
      .set(({ fn }) => ({ state: 'retired', run_id: runId, changed_at: fn<Date>('now') }))
      .where('state', '!=', 'retired')
      .where('channel_id', 'not in', [...configured, ''])
      .execute()
  })
}

/** The statement that keeps what the service says of a channel; an empty answer never blanks what is known. */
export function channelDescription(
  db: Kysely<Database>,
  channelId: string,
  { name, adminId }: ChannelFacts,
  runId: string,
) {
  return db
    .updateTable('livehouse.channels')
    .set((eb) => ({
      name: eb.fn.coalesce(eb.val(name), 'name'),
      admin_id: eb.fn.coalesce(eb.val(adminId), 'admin_id'),
      run_id: runId,
      changed_at: eb.fn<Date>('now'),
    }))
    .where('channel_id', '=', channelId)
    .where(sql<boolean>`(name, admin_id) is distinct from
      (coalesce(${name}::text, name), coalesce(${adminId}::bigint, admin_id))`)
}
