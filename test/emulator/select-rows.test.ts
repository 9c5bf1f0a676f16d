import { describe, expect, test } from 'vitest'
import { selectRows } from '../../src/emulator/select-rows.ts'
import type { RowOrder } from '../../src/emulator/switches.ts'
import { createRowList } from '../../src/emulator/world/row-list.ts'

interface Item {
  readonly id: number
  readonly at: number
}

/** A list whose rows count how often their time is looked at. */
function createCountedList(size: number) {
  const work = { looks: 0 }
  const items: Item[] = Array.from({ length: size }, (_, id) => ({ id, at: (id * 7919) % size }))
  const time = {
    name: 'at',
    of: (item: Item) => {
      work.looks += 1
      return item.at
    },
  }
  const list = createRowList(items)
  const select = (order: RowOrder, from?: number, to?: number) =>
    selectRows(list, { time, from, to, ends: 'inclusive', order, identityOf: (item) => String(item.id) })
  return { list, select, work }
}

describe('the work of a request', () => {
  test.each(['time-asc', 'time-desc'] as const)(
    '%s: a page of a sorted list costs no look at all its rows',
    (order) => {
      const { select, work } = createCountedList(20_000)
      select(order).slice(0, 100)
      work.looks = 0
      for (let page = 0; page < 200; page += 1)
        expect(select(order).slice(page * 100, page * 100 + 100)).toHaveLength(100)
      expect(work.looks).toBe(0)
    },
  )

  test('a time range costs two binary searches', () => {
    const { select, work } = createCountedList(20_000)
    select('time-desc', 5, 10)
    work.looks = 0
    expect(select('time-desc', 5000, 9999).count).toBe(5000)
    expect(work.looks).toBeLessThanOrEqual(32)
  })

  test.each(['id-asc', 'shuffled'] as const)('%s: a range is put in order once for all its pages', (order) => {
    const { select, work } = createCountedList(20_000)
    select(order, 5000, 9999)
    work.looks = 0
    for (let page = 0; page < 50; page += 1) select(order, 5000, 9999).slice(page * 100, page * 100 + 100)
    expect(work.looks).toBeLessThanOrEqual(50 * 32)
  })

  test('a change of the list is seen', () => {
    const { list, select } = createCountedList(10)
    expect(select('time-desc').count).toBe(10)
    list.add({ id: 10, at: 99 })
    expect(select('time-desc').slice(0, 1)).toEqual([{ id: 10, at: 99 }])
  })
})

test('many ranges do not pile up', () => {
  const { list, select } = createCountedList(1000)
  for (let from = 0; from < 900; from += 1) select('shuffled', from, from + 50)
  expect(list.viewCount).toBeLessThanOrEqual(64)
})
