import { expect, test } from 'vitest'
import { workAlone } from '../../../src/store/embedded/work-alone.ts'

test.runIf(process.platform === 'linux')(
  'of two under one name one works, and the name is free afterwards',
  async () => {
    const done: string[] = []
    const isDone = await workAlone('livehouse test', async () => {
      done.push('first')
      expect(await workAlone('livehouse test', async () => void done.push('second'))).toBe(false)
    })
    expect(isDone).toBe(true)
    expect(await workAlone('livehouse test', async () => void done.push('third'))).toBe(true)
    expect(done).toEqual(['first', 'third'])
  },
)

test('under a name that the system refuses it works all the same', async () => {
  const done: string[] = []
  expect(await workAlone('too long '.repeat(100), async () => void done.push('work'))).toBe(true)
  expect(done).toEqual(['work'])
})
