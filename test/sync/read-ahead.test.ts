import { describe, expect, test } from 'vitest'
import { createReadAhead } from '../../src/sync/read-ahead.ts'
import { createFakeClock } from '../helpers/fake-clock.ts'

describe('reading ahead', () => {
  test('those that read share the room, and each has some', async () => {
    const readAhead = createReadAhead(12, createFakeClock())
    const alone = await readAhead.begin(2)
    expect(alone.room()).toBe(12)
    const others = await Promise.all(Array.from({ length: 5 }, () => readAhead.begin(2)))
    expect([alone, ...others].map(({ room }) => room())).toEqual([2, 2, 2, 2, 2, 2])
    await Promise.all(Array.from({ length: 20 }, () => readAhead.begin(2)))
    expect(alone.room()).toBe(1)
    others.forEach(({ end }) => end())
  })

  test('three long lists are read at once; short ones wait for none', async () => {
    const readAhead = createReadAhead(12, createFakeClock())
    const long = await Promise.all([1, 2, 3].map(() => readAhead.begin(11)))
    let isFourthReading = false
    const fourth = readAhead.begin(3000).then((reader) => {
      isFourthReading = true
      return reader
    })
    const short = await readAhead.begin(10)
    expect(isFourthReading).toBe(false)
    expect(short.room()).toBe(3)
    long[1]?.end()
    expect((await fourth).room()).toBe(3)
  })

  test('where pages are there at once, few are held; where one is waited for, twice as many, up to all', async () => {
    const clock = createFakeClock()
    const { begin } = createReadAhead(48, clock)
    const reader = await begin(2)
    const take = async (ms: number) => {
      const page = reader.next(clock.sleep(ms))
      await clock.advance(ms)
      await page
      return reader.room()
    }
    expect(await take(0)).toBe(47)
    for (let taken = 0; taken < 100; taken++) await take(1)
    expect(reader.room()).toBe(8)
    expect(await take(5)).toBe(8)
    expect([await take(50), await take(10), await take(50), await take(50)]).toEqual([16, 32, 48, 48])
  })

  test('a room of few pages stays as it is', async () => {
    const reader = await createReadAhead(3, createFakeClock()).begin(2)
    for (let taken = 0; taken < 9; taken++) await reader.next(Promise.resolve())
    expect(reader.room()).toBe(3)
  })
})
