import { subscribe, tracingChannel } from 'node:diagnostics_channel'
import { vi } from 'vitest'

/** What this process waits for, with a description: statements of a database, requests over HTTP. */
const underWay = new Map<unknown, string>()
/** If so, a command may be running, which loads modules when it needs them. */
let usesDatabase = false
let whenOneEnds = Promise.withResolvers<void>()
/** Work may continue over some rounds of the event loop without waiting for anything outside. */
const QUIET_ROUNDS = 6
/** The round that waits until no module is loading; the code that imports it then has two more rounds. */
const IMPORT_ROUND = 3
/** Only a hang takes this long. */
const LONGEST_WAIT_MS = 600_000
/** Reading files, resolving names and connecting. Not writing: a browser may never read what is written to it. */
const SHORT_WORK = /^(FS|DNS|GetAddrInfo|TCPConnect|PipeConnect)/

const end = (key: unknown): void => {
  underWay.delete(key)
  whenOneEnds.resolve()
  whenOneEnds = Promise.withResolvers()
}

const { start, asyncEnd } = tracingChannel('livehouse:database')
start.subscribe((message) => {
  usesDatabase = true
  underWay.set(message, Object(message).doing)
})
asyncEnd.subscribe(end)
subscribe('undici:request:create', (message) => {
  const { method, origin, path } = Object(message).request
  underWay.set(Object(message).request, `${method} ${origin}${path}`)
})
for (const name of ['trailers', 'error']) subscribe(`undici:request:${name}`, (message) => end(Object(message).request))

/** Forgets what a test file has left open, so that the next one does not wait for it. */
export function forgetWhatIsUnderWay(): void {
  underWay.clear()
  usesDatabase = false
}

/**
 * Waits until nothing that takes real time is under way in this process: no statement of a database, no request over
 * HTTP, no file or module being read. What has not ended by then waits for a clock or for the test.
 * @throws if nothing ends for ten minutes, with what it has waited for
 */
export async function untilNothingIsUnderWay(): Promise<void> {
  for (let quiet = 0; quiet < QUIET_ROUNDS; quiet++) {
    if (quiet === IMPORT_ROUND && usesDatabase) await vi.dynamicImportSettled()
    await new Promise((resolve) => setImmediate(resolve))
    if (underWay.size === 0 && !isShortWorkUnderWay()) continue
    quiet = -1
    if (underWay.size > 0) await waitForEnd()
  }
}

async function waitForEnd(): Promise<void> {
  const timeout = Promise.withResolvers<never>()
  const timer = setTimeout(() => {
    const names = [...underWay.values()].join('; ')
    timeout.reject(new Error(`the clock stands still: nothing that is under way has ended for ten minutes: ${names}`))
  }, LONGEST_WAIT_MS)
  await Promise.race([whenOneEnds.promise, timeout.promise]).finally(() => clearTimeout(timer))
}

const isShortWorkUnderWay = (): boolean => process.getActiveResourcesInfo().some((name) => SHORT_WORK.test(name))
