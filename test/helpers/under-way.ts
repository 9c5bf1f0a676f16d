import { subscribe, tracingChannel } from 'node:diagnostics_channel'
import { vi } from 'vitest'

/** What this process waits for, and what it is: a statement of a database, a request over HTTP. */
const underWay = new Map<unknown, string>()
/** A command, then, which loads modules as it goes on. */
let usesDatabase = false
let whenOneEnds = Promise.withResolvers<void>()
/** Work may go on over some rounds of the event loop without waiting for anything outside. */
const QUIET_ROUNDS = 6
/** The one after which no module may be on its way; what has imported it has two more. */
const IMPORT_ROUND = 3
/** Only there to end a hang. */
const LONGEST_WAIT_MS = 600_000
/** Files and names that are being read. What is written to a browser that reads nothing is not waited for. */
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
for (const last of ['trailers', 'error']) subscribe(`undici:request:${last}`, (message) => end(Object(message).request))

/** What a test file has left open, which the next does not wait for. */
export function forgetWhatIsUnderWay(): void {
  underWay.clear()
  usesDatabase = false
}

/**
 * Until nothing is under way in this process that takes real time: no statement of a database, no request over HTTP, no file or module
 * that is being read. What has not ended then waits for a clock, or for the test.
 * @throws after ten minutes without an end, with what it has waited for
 */
export async function untilNothingIsUnderWay(): Promise<void> {
  for (let quiet = 0; quiet < QUIET_ROUNDS; quiet++) {
    if (quiet === IMPORT_ROUND && usesDatabase) await vi.dynamicImportSettled()
    await new Promise((resolve) => setImmediate(resolve))
    if (underWay.size === 0 && !isShortWorkUnderWay()) continue
    quiet = -1
    if (underWay.size > 0) await oneEnd()
  }
}

async function oneEnd(): Promise<void> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => {
    const names = [...underWay.values()].join('; ')
    late.reject(new Error(`the clock stands: for ten minutes nothing has ended of what is under way: ${names}`))
  }, LONGEST_WAIT_MS)
  await Promise.race([whenOneEnds.promise, late.promise]).finally(() => clearTimeout(timer))
}

const isShortWorkUnderWay = (): boolean => process.getActiveResourcesInfo().some((name) => SHORT_WORK.test(name))
