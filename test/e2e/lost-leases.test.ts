import { sql } from 'kysely'
import { beforeEach, expect, test } from 'vitest'
import { expectTruth } from '../helpers/expect-truth.ts'
import { atFirstList } from '../helpers/fault-effects.ts'
import { startKillBench } from '../helpers/kill-bench.ts'
import { ofFile } from '../helpers/of-file.ts'

const bench = ofFile(startKillBench)

beforeEach(async () => await bench.reset())

/** As time does, also to a run that is not renewed meanwhile. */
const later = {
  'the partition alone': sql`update livehouse_ops.leases
    set expires_at = now() + case when name like 'run %' then interval '1 hour' else '0' end`,
  'the partition and the run': sql`update livehouse_ops.leases set expires_at = now()`,
} as const

async function readStatuses(): Promise<readonly string[]> {
  const runs = await bench.database.db.selectFrom('livehouse_ops.runs').select('status').orderBy('run_id').execute()
  return runs.map(({ status }) => status)
}

test.each([
  ['the partition alone', 'running'],
  ['the partition and the run', 'interrupted'],
] as const)(
  'a process that was stopped with an older reading in hand, and lost %s, overwrites nothing; meanwhile it is shown as %s',
  async (lost, shown) => {
    const { emulator, database } = bench
    const child = bench.startChild('--streams', 'visitors')
    const stopped = Promise.withResolvers<void>()
    const effect = atFirstList(() => {
      child.process.kill('SIGSTOP')
      stopped.resolve()
    })
    emulator.faults.push({ effect })
    await child.whileRunning(stopped.promise)
    await later[lost].execute(database.db)
    for (const { visitors } of emulator.world.channels.values()) {
      for (const visitor of visitors.rows) visitors.replace(visitor, { ...visitor, nick: `${visitor.nick} II` })
    }
    expect(await bench.syncHere()).toBe(0)
    await expectTruth(bench, ['visitors'])
    expect(await readStatuses()).toEqual([shown, 'ok'])

    child.process.kill('SIGCONT')
    const { code, error } = await child.ended
    expect(code, error).toBe(0)
    await expectTruth(bench, ['visitors'])
    expect(await readStatuses()).toEqual(['ok', 'ok'])
  },
)
