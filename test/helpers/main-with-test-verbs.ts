import { systemClock } from '../../src/core/clock.ts'
import { main } from '../../src/main.ts'

/** The real program with verbs that misbehave, for `main.test.ts` to start as a process of its own. */
const verbs = {
  obedient: async (signal: AbortSignal, print: (line: string) => void) => {
    print('started')
    await systemClock.sleep(60_000, signal)
  },
  tidy: async (signal: AbortSignal, print: (line: string) => void) => {
    print('started')
    await systemClock.sleep(60_000, signal).catch(() => {})
    await systemClock.sleep(100)
    print('tidied')
  },
  stubborn: async (_: AbortSignal, print: (line: string) => void) => {
    print('started')
    await systemClock.sleep(60_000)
  },
  talkative: async (_: AbortSignal, print: (line: string) => void) => {
    for (let line = 0; line < 20_000; line += 1) {
      print(`line ${line}`)
      // Lets a closed pipe make itself heard.
      if (line % 1000 === 0) await new Promise(setImmediate)
    }
  },
  broken: async () => {
    process.nextTick(() => JSON.parse('{'))
    await systemClock.sleep(60_000)
  },
  forgetful: async () => {
    void Promise.reject(new Error('nobody caught this'))
    await systemClock.sleep(60_000)
  },
  stuck: async () => {
    await new Promise(() => {})
  },
}

void main(
  Object.fromEntries(
    Object.entries(verbs).map(([verb, act]) => {
      const load = async () => ({
        help: () => verb,
        run: async ({ signal, print }: { signal: AbortSignal; print: (line: string) => void }) => {
          await act(signal, print)
          return 0
        },
      })
      return [verb, [verb, load] as const]
    }),
  ),
)
