import { describe, expect, test } from 'vitest'
import { createReadAhead } from '../../src/pipeline/read-ahead.ts'

describe('reading ahead', () => {
  test('those that read share the room, and each has some', async () => {
    const readAhead = createReadAhead(12)
    const alone = await readAhead.begin(2)
    expect(alone.room()).toBe(12)
    const others = await Promise.all(Array.from({ length: 5 }, () => readAhead.begin(2)))
    expect([alone, ...others].map(({ room }) => room())).toEqual([2, 2, 2, 2, 2, 2])
    await Promise.all(Array.from({ length: 20 }, () => readAhead.begin(2)))
    expect(alone.room()).toBe(1)
    others.forEach(({ end }) => end())
  })

  test('three long lists are read at once; short ones wait for none', async () => {
    const readAhead = createReadAhead(12)
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
})
