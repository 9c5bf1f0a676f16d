import { subscribe, tracingChannel, unsubscribe } from 'node:diagnostics_channel'
import { Session } from 'node:inspector'
import { expect, test } from 'vitest'
import { startAccount } from '../helpers/start-account.ts'

/** The files of `src` with a function that was called since the last call of this one, without the emulator. */
function lookAtFiles(session: Session): readonly string[] {
  let files: readonly string[] = []
  session.post('Profiler.takePreciseCoverage', (error, { result }) => {
    if (error) throw error
    const called = result.filter(({ functions }) => functions.some(({ ranges: [whole] }) => (whole?.count ?? 0) > 0))
    files = called.flatMap(({ url }) => /\/src\/((?!emulator\/).*\.ts)$/.exec(url)?.[1] ?? [])
  })
  return files
}

// To follow a row one has to read these files. Each is a hop, and adding one takes a reason.
test.each([
  ['visitors', 'visitorList', 30],
  ['gifts', 'giftRunning', 35],
])('rows of %s pass few files from the answer to the commit', async (stream, endpoint, most) => {
  await using account = await startAccount({ viewers: 30 })
  const [channelId = ''] = account.emulator.channelIds
  const run = async () => {
    await account.database.db.deleteFrom('livehouse_ops.slices').execute()
    expect(await account.sync(['--streams', stream, '--channels', channelId])).toMatchObject({ code: 0 })
  }
  // A first run loads the modules, so that their top-level code does not count.
  await run()
  const profiler = new Session()
  profiler.connect()
  profiler.post('Profiler.enable')
  profiler.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  const passedOf = async (): Promise<ReadonlySet<string>> => {
    const passed = new Set<string>()
    let [answers, landed] = [0, 0]
    const onAnswer = (message: unknown) => {
      const files = lookAtFiles(profiler)
      if (answers > landed) files.forEach((path) => passed.add(path))
      if (String(Object(Object(message).request).path).includes(endpoint)) answers++
    }
    const onStatement = (message: unknown) => {
      if (Object(message).doing !== 'commit' || answers === landed) return
      lookAtFiles(profiler).forEach((path) => passed.add(path))
      landed = answers
    }
    const { asyncEnd } = tracingChannel('livehouse:database')
    subscribe('undici:request:headers', onAnswer)
    asyncEnd.subscribe(onStatement)
    await run()
    unsubscribe('undici:request:headers', onAnswer)
    asyncEnd.unsubscribe(onStatement)
    expect(landed).toBeGreaterThan(0)
    return passed
  }
  // A busy machine may also open a connection, save progress or look for a cancellation, but not in all three runs.
  const [first, ...others] = [await passedOf(), await passedOf(), await passedOf()]
  const hops: ReadonlySet<string> = others.reduce((common, each) => common.intersection(each), first)
  profiler.disconnect()
  expect(hops.size, [...hops].toSorted().join('\n')).toBeLessThanOrEqual(most)
})
