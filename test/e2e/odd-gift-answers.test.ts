import { expect, test } from 'vitest'
import { sync } from '../../src/cli/sync.ts'
import { wallTimeAt } from '../../src/core/wall-clock.ts'
import { expectTruth } from '../helpers/expect-truth.ts'
import { changedRows } from '../helpers/fault-effects.ts'
import { first, firstChannel } from '../helpers/first-rows.ts'
import { runJson } from '../helpers/run-json.ts'
import { startAccount } from '../helpers/start-account.ts'

test.each(['empty', 'repeat-first', 'repeat-last', 'error'] as const)(
  'gifts with a field that differs in every answer are read, and none twice; behind the last page: %s',
  async (beyondLastPage) => {
    await using account = await startAccount({ channels: 1 })
    const { emulator, clock } = account
    Object.assign(emulator.switches, { beyondLastPage })
    let answers = 0
    emulator.faults.push({ effect: changedRows((item) => ({ ...Object(item), server_time: ++answers })) })
    const { gifts } = firstChannel(emulator)
    const givenAt = wallTimeAt(clock.nowMs, 'Asia/Shanghai') - 3600
    const gift = { ...first(gifts.rows), type: 'cash' as const, giftId: 1, givenAt }
    gifts.add(...Array.from({ length: 230 }, (_, n) => ({ ...gift, giftId: n, givenAt: givenAt - n * 60 })))
    gifts.add(...Array.from({ length: 130 }, () => ({ ...gift })))
    const readAfter = async (hours: number) => {
      clock.nowMs += hours * 3_600_000
      const { code, streams, errors } = await runJson(account, sync, ['--streams', 'gifts'])
      return { code, errors, ...streams.gifts }
    }

    expect(await readAfter(2)).toMatchObject({ code: 0, errors: [] })
    await expectTruth(account, ['gifts'])
    expect(await readAfter(2)).toMatchObject({ code: 0, inserted: 0, removed: 0, errors: [] })
    // Behind the lookback it has come to rest, and is read no more.
    await readAfter(50)
    expect(await readAfter(50)).toMatchObject({ code: 0, extracted: 0, errors: [] })
  },
)
