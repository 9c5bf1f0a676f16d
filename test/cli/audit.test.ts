import { sql } from 'kysely'
import { beforeAll, expect, test } from 'vitest'
import { audit } from '../../src/cli/audit.ts'
import { sync } from '../../src/cli/sync.ts'
import { parseWallTime } from '../../src/core/wall-clock.ts'
import { defaultSwitches, type Switches } from '../../src/emulator/switches.ts'
import { firstRows } from '../helpers/first-rows.ts'
import { ofFile } from '../helpers/of-file.ts'
import { startAccount } from '../helpers/start-account.ts'
import type { AuditedPartition } from '../helpers/start-filled.ts'

// One warehouse, filled once. Whatever the spec leaves open, audits find it equal, and find rows that are deleted.
const account = ofFile(startAccount)

beforeAll(async () => {
  const { channel, record } = firstRows(account.emulator)
  const at = (time: string) => parseWallTime(`2026-11-20 ${time}`) ?? 0
  // One visit goes on at the end of the coverage, 14:25; others begin or end at that second, or just before.
  for (const [place, [from, to]] of edges.entries())
    channel.records.add({ ...record, recordId: `${900_000_000 + place}`, enteredAt: at(from), leftAt: at(to) })
  await account.run(sync)
})

const edges = [
  ['13:10:20', '14:27:40'],
  ['14:25:00', '14:26:00'],
  ['14:10:00', '14:25:00'],
  ['14:20:00', '14:24:59'],
] as const

async function runAudit(...argv: string[]) {
  const { code, status, errors, audit: report } = await account.runJson(audit, argv)
  const partitions: readonly AuditedPartition[] = report.partitions
  return { code, status, errors, partitions, different: partitions.filter(({ verdict }) => verdict === 'different') }
}

/** Deletes records from the warehouse while `work` runs. */
async function withoutRecords(recordIds: readonly string[], work: () => Promise<void>): Promise<void> {
  const { db } = account.database
  const name = sql.table('livehouse.watch_records')
  const { rows } = await sql<{ row: unknown }>`
    delete from ${name} as t where record_id = any(${recordIds}::bigint[]) returning to_jsonb(t) as row`.execute(db)
  expect(rows).toHaveLength(recordIds.length)
  try {
    await work()
  } finally {
    for (const { row } of rows)
      await sql`insert into ${name} select *
        from jsonb_populate_record(null::${name}, ${JSON.stringify(row)}::jsonb)`.execute(db)
  }
}

/** The first, the last and the longest record within the coverage. */
async function edgeRecords(): Promise<readonly string[]> {
  const { rows } = await sql<{ record_id: string }>`
    with covered as (select * from livehouse.watch_records where left_at < '2026-11-20 14:25+08')
    (select record_id from covered order by entered_at limit 1)
    union (select record_id from covered order by left_at desc limit 1)
    union (select record_id from covered order by left_at - entered_at desc limit 1)`.execute(account.database.db)
  return rows.map(({ record_id }) => record_id)
}

/** As many of the first records of a channel as it has visits that go on at the end of the coverage. */
async function asManyAsOpenVisits(): Promise<readonly string[]> {
  const { rows } = await sql<{ record_id: string }>`
    with own as (select * from livehouse.watch_records where channel_id = ${account.emulator.channelIds[0]}),
    open_visits as (select from own where entered_at < '2026-11-20 14:25+08' and left_at >= '2026-11-20 14:25+08')
    select record_id from own order by entered_at limit (select count(*) from open_visits)`.execute(account.database.db)
  expect(rows.length).toBeGreaterThan(0)
  return rows.map(({ record_id }) => record_id)
}

const filters = (['inclusive', 'exclusive', 'half-open'] as const).flatMap((filterEnds) =>
  (['entry', 'leave', 'both'] as const).map((recordFilterTime) => ({ filterEnds, recordFilterTime })),
)

test.each<Partial<Switches>>([
  ...filters,
  { rowOrder: 'shuffled', visitorOrder: 'shuffled', beyondLastPage: 'error', errcodeStatus: 'matching' },
  { rowOrder: 'time-asc', visitorOrder: 'user-id', emptyLists: 'missing', questionnaireStatus: 'boolean' },
  { beyondLastPage: 'repeat-last', listParams: 'body', emptyLists: 'null', totals: 'text' },
])('an audit of a complete warehouse is green with %j', async (switches) => {
  Object.assign(account.emulator.switches, defaultSwitches, switches)
  const { partitions, code, status, errors } = await runAudit()
  expect(partitions.filter(({ verdict }) => verdict !== 'equal' && verdict !== 'unverifiable')).toEqual([])
  expect(partitions.flatMap(({ notes, verdict }) => (verdict === 'equal' ? notes : []))).toEqual([])
  expect({ code, status, errors }).toEqual({ code: 0, status: 'ok', errors: [] })
})

test.each(filters)('an audit finds deleted records, and no others, with %j', async (switches) => {
  Object.assign(account.emulator.switches, defaultSwitches, switches)
  for (const missing of [...(await edgeRecords()).map((recordId) => [recordId]), await asManyAsOpenVisits()]) {
    await withoutRecords(missing, async () => {
      const { code, different } = await runAudit('--streams', 'watch_records', '--no-reopen')
      expect({ code, missing }).toEqual({ code: 3, missing })
      const keys = different.flatMap(({ differences }) => differences.flatMap((each) => each.keys ?? []))
      expect(keys.toSorted()).toEqual(missing.toSorted())
      expect(different).toMatchObject([{ differences: [{ kind: 'missing' }], reopened: [] }])
    })
  }
})

test('an audit never calls version 1, calls unread streams different, and fails if the service is down', async () => {
  await using empty = await startAccount()
  const { emulator, run } = empty
  const { code, printed } = await run(audit, ['--streams', 'watch_records_v1,watch_records', '--from', '2018-01-01'])
  expect(code).toBe(3)
  expect(printed.join('\n')).toContain('– watch_records_v1: not audited by total')
  expect(printed.join('\n')).toMatch(/^watch_records .*different$/m)
  expect(emulator.calls.map(({ endpoint }) => endpoint)).not.toContain('userRecords')
  expect(await run(audit, [])).toMatchObject({ code: 3 })
  await run(sync, ['--streams', 'managers'])
  // If only one stream is read, the others make no difference unless they are named.
  const others = await run(audit, [])
  expect([others.code, others.printed.join('\n')]).toEqual([0, expect.stringMatching(/^visitors .*not read yet$/m)])
  expect(await run(audit, ['--streams', 'visitors'])).toMatchObject({ code: 3 })
  // Which call is answered first varies.
  for (let time = 0; time < 5; time += 1) {
    const bad = { LIVEHOUSE_API_TOKEN: 'bad' }
    const { status, errors } = await empty.runJson(audit, ['--streams', 'visitors,gifts'], bad)
    const [{ stream, message }] = errors
    expect(`${status} ${stream}: ${message}`).toMatch(/^failed (gifts: POST gift|visitors: POST visitor).*401/)
  }
  await emulator[Symbol.asyncDispose]()
  expect(await run(audit, ['--streams', 'managers'])).toMatchObject({ error: { code: 'api.unreachable' } })
})
