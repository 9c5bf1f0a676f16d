import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, test } from 'vitest'
import { whenAborted } from '../../src/core/when-aborted.ts'

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

describe('whenAborted', () => {
  test('calls the action when the signal aborts, and not once it is called off', () => {
    const controller = new AbortController()
    const heard: string[] = []
    whenAborted(controller.signal, () => heard.push('first'))
    const callOff = whenAborted(controller.signal, () => heard.push('second'))
    callOff()
    controller.abort()
    expect(heard).toEqual(['first'])
  })

  test('a listener that is called off lets go of what its action holds, whoever still holds the listener', async () => {
    const { signal } = new AbortController()
    const listeners: unknown[] = []
    const listen = signal.addEventListener.bind(signal)
    signal.addEventListener = (type: string, listener: Parameters<typeof listen>[1]) => {
      listeners.push(listener)
      listen(type, listener)
    }
    const held = listenFor(signal)
    // A reference that was just made counts as strong until the end of the task (ECMAScript, WeakRef).
    await new Promise((resolve) => setImmediate(resolve))
    collectGarbage()
    expect(listeners).toHaveLength(1)
    expect(held.deref()).toBeUndefined()
  })
})

/** In a function of its own: its frame is gone when garbage is collected. */
function listenFor(signal: AbortSignal): WeakRef<object> {
  const answer = { rows: [] }
  whenAborted(signal, () => answer.rows)()
  return new WeakRef(answer)
}
