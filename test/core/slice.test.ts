import { expect, test } from 'vitest'
import { parsePartition, partitionKey } from '../../src/core/slice.ts'

test.each([{}, { channel: '9' }, { channel: '9', type: 'cash' }, { channel: '9', question: 'a/b=c\nd' }])(
  '%j comes back from its key',
  (partition) => {
    expect(parsePartition(partitionKey(partition))).toEqual(partition)
  },
)

test.each(['', 'channel=', 'question=ab', 'channel=9/other=1'])('%j is no partition', (key) => {
  expect(parsePartition(key)).toBeUndefined()
})
