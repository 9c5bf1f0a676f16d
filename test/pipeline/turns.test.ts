import { expect, test } from 'vitest'
import { createTurns } from '../../src/pipeline/turns.ts'

test('so many have their turn at once, and the others in the order of asking', async () => {
  const turns = createTurns(2)
  const begun: number[] = []
  const taken = [1, 2, 3, 4].map(async (name) => {
    const end = await turns.take()
    begun.push(name)
    return end
  })
  const [first, second] = await Promise.all(taken.slice(0, 2))
  expect(begun).toEqual([1, 2])
  second?.()
  const third = await taken[2]
  expect(begun).toEqual([1, 2, 3])
  first?.()
  third?.()
  await taken[3]
  expect(begun).toEqual([1, 2, 3, 4])
})
