import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'

type Hook = (act: () => Promise<void>) => void

/** What `open` gives before the first test of a file, for all of them. It is disposed of after the last. */
export const ofFile = <T extends AsyncDisposable>(open: () => Promise<T>): T => opened(open, beforeAll, afterAll)

/** The same for each test of a file: another one. */
export const ofTest = <T extends AsyncDisposable>(open: () => Promise<T>): T => opened(open, beforeEach, afterEach)

function opened<T extends AsyncDisposable>(open: () => Promise<T>, before: Hook, after: Hook): T {
  let current: T | undefined
  before(async () => {
    current = await open()
  })
  after(async () => {
    await current?.[Symbol.asyncDispose]()
  })
  const ofCurrent = (_: object, name: string | symbol): unknown => {
    if (current === undefined) throw new Error('it is there within tests alone')
    return Reflect.get(current, name)
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each of its members is that of what is open
  return new Proxy({}, { get: ofCurrent }) as T
}
