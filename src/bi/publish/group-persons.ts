import { sql } from 'kysely'
import type { Db } from '../../store/database.ts'
import { quoteText } from '../quote.ts'
import { addPersons, forgetChangedPersons, joinPersons } from '../views/fragments/identity.ts'
import { noteChannelsOf, refreshPersons } from '../views/fragments/persons.ts'
import { hasChanges, withFiguresLock } from './with-figures-lock.ts'

/**
 * Groups viewers of all channels who share an id, directly or through others, into persons, and stores the totals of
 * each. Reads the visitors only of channels where some have changed: most nights few, or none.
 */
export async function groupPersons(db: Db, signal?: AbortSignal): Promise<void> {
  if (!(await hasChanges(db, 'changed_persons'))) return
  await withFiguresLock(db, signal, async (trx) => {
    const channels = new Set<string>()
    const applyChange = async (statement: string): Promise<boolean> => {
      const { rows } = await sql.raw<{ channel: string }>(noteChannelsOf(statement)).execute(trx)
      for (const { channel } of rows) channels.add(channel)
      return rows.length > 0
    }
    const channelArray = () => `array[${[...channels].map((id) => quoteText(id)).join(', ')}]::text[]`
    if (!(await applyChange('delete from livehouse_ops.changed_persons returning channel_id'))) return
    const { rows: earlier } = await sql`select from livehouse_ops.viewer_persons limit 1`.execute(trx)
    await applyChange(forgetChangedPersons(channelArray()))
    let hasChanged = await applyChange(addPersons(channelArray()))
    // An earlier viewer who shares an id with a new one may not be marked `is_shared`: read all rows once.
    let condition = earlier.length > 0 ? 'true' : 'is_shared'
    while (hasChanged) {
      hasChanged = false
      for (const statement of joinPersons(condition)) hasChanged = (await applyChange(statement)) || hasChanged
      condition = 'is_shared'
    }
    await sql.raw(refreshPersons(channelArray())).execute(trx)
  })
}
