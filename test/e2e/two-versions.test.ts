import { sql } from 'kysely'
import { beforeEach, expect, test } from 'vitest'
import { backfill } from '../../src/cli/backfill.ts'
import type { WatchRecord } from '../../src/emulator/world/world.ts'
import { first, firstChannel } from '../helpers/first-rows.ts'
import { startV1Account, V1_BACKFILL } from '../helpers/v1-account.ts'
import { ofTest } from '../helpers/of-file.ts'

const account = ofTest(startV1Account)
/** What version 1 has: record 1000000, in the first channel. */
let old: WatchRecord

beforeEach(() => {
  account.setRecords(2, 0)
  old = first(channel().oldRecords.rows)
})

const channel = () => firstChannel(account.emulator)

async function read(version: 1 | 2) {
  const argv = version === 1 ? V1_BACKFILL : [...V1_BACKFILL.slice(0, 4), '--streams', 'watch_records']
  const { code, streams } = await account.runJson(backfill, argv)
  expect(code).toBe(0)
  account.nextDay()
  return streams[version === 1 ? 'watch_records_v1' : 'watch_records']
}

async function held(id = old.recordId) {
  const { rows } = await sql`
    select nickname, user_id, assign_id, api_version from livehouse.watch_records
    where record_id = ${id}::bigint`.execute(account.database.db)
  const quarantine = account.database.db.selectFrom('livehouse_ops.quarantine').select(['stream', 'reason'])
  return { row: rows[0], kept: await quarantine.orderBy('reason').execute() }
}

test('version 1 inserts rows and updates its own; version 2 takes them over, and version 1 leaves them alone from then on', async () => {
  expect(await read(1)).toMatchObject({ inserted: 2 })
  channel().oldRecords.replace(old, { ...old, nick: 'edited' })
  expect(await read(1)).toMatchObject({ inserted: 0, updated: 1, unchanged: 1 })
  expect(await held()).toMatchObject({ row: { nickname: 'edited', api_version: 1 } })

  channel().records.add({ ...old, nick: 'of version 2', assignId: 'a1' })
  expect(await read(2)).toMatchObject({ inserted: 0, updated: 1 })
  expect(await read(1)).toMatchObject({ inserted: 0, updated: 0, quarantined: 0 })
  expect(await held()).toEqual({
    row: { nickname: 'of version 2', user_id: old.userId, assign_id: 'a1', api_version: 2 },
    kept: [],
  })
})

test.each([[[1, 2]], [[2, 1]]] as const)('an id with another user or minute is quarantined (%j)', async (order) => {
  const other = { ...first(channel().oldRecords.rows.slice(1)), nick: 'of version 2' }
  channel().records.add({ ...old, nick: 'of version 2', userId: 'another' })
  channel().records.add({ ...other, enteredAt: other.enteredAt + 60 })
  for (const version of order) await read(version)
  const reasons = ['entered_at', 'user_id'].map((named) => `version 2 has this record_id with another ${named}`)
  const kept = reasons.map((reason) => ({ stream: 'watch_records_v1', reason: `conflict: ${reason}` }))
  for (const id of [old.recordId, other.recordId])
    expect(await held(id)).toMatchObject({ row: { nickname: 'of version 2', api_version: 2 }, kept })
})
