import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { expect, test } from 'vitest'
import { createLiveEvents } from '../../src/web/live-events.ts'
import { createFakeClock } from '../helpers/fake-clock.ts'
import { messagesOf } from '../../src/web/messages.ts'
import type { ProgressBoard } from '../../src/app/progress-board.ts'

/** Their pictures are long enough to fill what the systems hold back for a connection. */
const JOBS = 2000
const PICTURE = 200_000

test('a browser that reads nothing holds one picture here, gets the latest when it reads, and is let go when it does not', async () => {
  const listeners = new Set<(isTurn: boolean) => void>()
  let shown = 0
  const board: Pick<ProgressBoard, 'jobs' | 'listen'> = {
    jobs: () => Array.from({ length: JOBS }, () => ({ job: `job-${shown}`, startedAtMs: 0, streams: [] })),
    listen: (listener) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
  const clock = createFakeClock()
  using events = createLiveEvents(board, clock)
  const served = Promise.withResolvers<ServerResponse>()
  const server = createServer((request, response) => {
    events.serve(request, response, messagesOf('en'))
    served.resolve(response)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = Object(server.address()) satisfies AddressInfo
  const browser = connect(port, '127.0.0.1').pause()
  browser.write('GET /events HTTP/1.1\r\nhost: localhost\r\n\r\n')
  const response = await served.promise

  /** Half a second each; 40 of them end before the next sign of life. */
  const showPictures = async () => {
    let held = 0
    for (let count = 0; count < 40; count++) {
      shown++
      for (const listener of listeners) listener(true)
      await clock.advance(500)
      held = Math.max(held, response.writableLength)
    }
    return held
  }
  expect(await showPictures()).toBeLessThan(2 * PICTURE)
  expect(response.writableNeedDrain).toBe(true)

  let seen = ''
  browser.setEncoding('utf8').on('data', (text: string) => (seen = (seen + text).slice(-2 * PICTURE)))
  browser.resume()
  while (!seen.includes(`job-${shown} is running`)) await once(browser, 'data')

  browser.pause()
  await showPictures()
  await clock.advance(30_000)
  expect(response.destroyed).toBe(true)
  expect(listeners.size).toBe(0)
  browser.destroy()
  server.close()
})
