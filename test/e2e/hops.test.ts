import { subscribe, tracingChannel, unsubscribe } from 'node:diagnostics_channel'
import { Session } from 'node:inspector'
import { expect, test } from 'vitest'
import { sync } from '../../src/cli/sync.ts'
import { startAccount } from '../helpers/start-account.ts'

/** Files of `src` with a function that was called since the last look; the service's side left out. */
function lookAtFiles(session: Session): readonly string[] {
  const files: string[] = []
  session.post('Profiler.takePreciseCoverage', (error, { result }) => {
    if (error) throw error
    for (const { url, functions } of result) {
      const [, path] = /\/src\/(.*\.ts)$/.exec(url) ?? []
      const isCalled = functions.some(({ ranges: [whole] }) => whole !== undefined && whole.count > 0)
      if (path !== undefined && !path.startsWith('emulator/') && isCalled) files.push(path)
    }
  })
  return files.sort()
}

// Whoever follows one row reads these files: each is a hop, and it takes a reason to add one. They are 30 and 33; on a
// slow machine a connection that is opened meanwhile, and timers (progress, whether it is cancelled), add up to three.
test.each([
  ['visitors', 'visitorList', 33],
  ['gifts', 'giftRunning', 36],
])('from the answer to the commit, rows of %s pass few files', async (stream, endpoint, most) => {
  await using account = await startAccount({ viewers: 30 })
  const [channelId = ''] = account.emulator.channelIds
  const run = async () => await account.run(sync, ['--streams', stream, '--channels', channelId])
  // Once before, so that modules are loaded and their beginnings do not count.
  expect(await run()).toMatchObject({ code: 0 })
  await account.database.db.deleteFrom('livehouse_ops.slices').execute()

  const session = new Session()
  session.connect()
  session.post('Profiler.enable')
  session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  const passed = new Set<string>()
  let answers = 0
  let landed = 0
  const onAnswer = (message: unknown) => {
    const isOfList = String(Object(Object(message).request).path).includes(endpoint)
    const files = lookAtFiles(session)
    if (answers > landed) files.forEach((path) => passed.add(path))
    if (isOfList) answers++
  }
  const onStatement = (message: unknown) => {
    if (Object(message).doing !== 'commit' || answers === landed) return
    for (const path of lookAtFiles(session)) passed.add(path)
    landed = answers
  }
  const { asyncEnd } = tracingChannel('livehouse:database')
  subscribe('undici:request:headers', onAnswer)
  asyncEnd.subscribe(onStatement)
  expect(await run()).toMatchObject({ code: 0 })
  unsubscribe('undici:request:headers', onAnswer)
  asyncEnd.unsubscribe(onStatement)
  session.disconnect()

  expect(landed).toBeGreaterThan(0)
  expect(passed.size, [...passed].sort().join('\n')).toBeLessThanOrEqual(most)
})
