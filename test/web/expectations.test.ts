import { expect, test } from 'vitest'
import { createExpectations } from '../../src/web/expectations.ts'
import { makeChannel, makeFacts } from '../helpers/status-facts.ts'

const job = { name: 'j', cron: '15 2 * * *', timeZone: 'UTC', next: undefined, isRunning: false, last: undefined }

test('jobs say of which channels a stream is wanted; what no job reads is wanted of all', () => {
  const { isWanted } = createExpectations(
    makeFacts({
      channels: [makeChannel(), makeChannel({ channelId: '10', group: 'shop' })],
      jobs: [
        { ...job, streams: ['gifts', 'visitors'], channels: { group: 'shop' } },
        { ...job, streams: ['gifts'], channels: ['12'] },
      ],
    }),
  )
  const wanted = (stream: string) => ['9', '10', '12', 'unknown'].map((channelId) => isWanted(stream, channelId))
  expect(wanted('gifts')).toEqual([false, true, true, false])
  expect(wanted('visitors')).toEqual([false, true, false, false])
  expect(wanted('watch_records')).toEqual([true, true, true, true])
})
