import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'

type Hook = (act: () => Promise<void>) => void

/** Opens a resource before the first test of a file, for all of its tests, and disposes of it after the last. */
export const ofFile = <T extends AsyncDisposable>(open: () => Promise<T>): T => openAround(open, beforeAll, afterAll)

/** Opens a new resource for each test of a file. */
export const ofTest = <T extends AsyncDisposable>(open: () => Promise<T>): T => openAround(open, beforeEach, afterEach)

function openAround<T extends AsyncDisposable>(open: () => Promise<T>, before: Hook, after: Hook): T {
  let current: T | undefined
  before(async () => {
    current = await open()
  })
  after(async () => {
    await current?.[Symbol.asyncDispose]()
  })
  const ofCurrent = (_: object, name: string | symbol): unknown => {
    if (current === undefined) throw new Error('the resource exists only while tests run')
    return Reflect.get(current, name)
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its members are those of the open resource
  return new Proxy({}, { get: ofCurrent }) as T
}
