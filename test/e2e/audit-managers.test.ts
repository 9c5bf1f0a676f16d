import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { audit } from '../../src/cli/audit.ts'
import { sync } from '../../src/cli/sync.ts'
import { runJson } from '../helpers/run-json.ts'
import { startAccount } from '../helpers/start-account.ts'
import { startFilled } from '../helpers/start-filled.ts'

const DAY_MS = 86_400_000

test('an account that is new since the last sync is no difference; what there is nothing to compare with is not compared, and has no numbers', async () => {
  await using account = await startFilled()
  const { emulator, audited, text, clock } = account
  const { managers } = emulator.world
  const [known] = managers.rows
  if (!known) throw new Error('the world is empty')
  managers.add({ ...known, id: '99001', createdOn: '2026-11-20' })
  expect(await text('--streams', 'managers,manager_usage')).toMatchObject({ code: 0 })
  const notes = ['new or still changing since the last reading: 1']
  expect(await audited('--streams', 'managers,manager_usage')).toMatchObject([{ notes }, { notes }])
  clock.nowMs += DAY_MS
  const { code, out } = await text('--streams', 'manager_usage')
  expect(code).toBe(0)
  expect(out).toMatch(/^manager_usage +account +whole list +– +– +0 +not compared$/m)
})

test('an account that is lost is found where its usage was never read, also beside one that is new and one that is kept', async () => {
  await using account = await startAccount()
  const { emulator, run, database } = account
  const { managers } = emulator.world
  const [first, second] = managers.rows
  if (!first || !second) throw new Error('the world is empty')
  const look = async () => {
    const { code, audit: found } = await runJson(account, audit, ['--streams', 'managers'])
    return { code, differences: found.partitions[0].differences }
  }
  await run(sync, ['--streams', 'managers'])
  managers.remove(first)
  await run(sync, ['--streams', 'managers'])
  expect(await look()).toEqual({ code: 0, differences: [] })
  await sql`delete from livehouse.managers where manager_id = ${second.id}`.execute(database.db)
  const missing = (rows: number) => ({ code: 3, differences: [expect.objectContaining({ kind: 'missing', rows })] })
  expect(await look()).toEqual(missing(1))
  managers.add({ ...second, id: '99001' })
  expect(await look()).toEqual(missing(2))
  await run(sync, ['--streams', 'managers'])
  managers.add({ ...second, id: '99002' })
  expect(await look()).toEqual({ code: 0, differences: [] })
})
