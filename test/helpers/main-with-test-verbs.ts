import type { CliContext } from '../../src/cli/command.ts'
import { systemClock } from '../../src/core/clock.ts'
import { main } from '../../src/main.ts'

type Act = (context: Pick<CliContext, 'signal' | 'print'>) => Promise<unknown>

/** The real program with verbs that misbehave, for `main.test.ts` to start as a process of its own. */
const verbs: Readonly<Record<string, Act>> = {
  obedient: async ({ signal, print }) => {
    print('started')
    await systemClock.sleep(60_000, signal)
  },
  tidy: async ({ signal, print }) => {
    print('started')
    await systemClock.sleep(60_000, signal).catch(() => {})
    await systemClock.sleep(100)
    print('tidied')
  },
  stubborn: async ({ print }) => {
    print('started')
    await systemClock.sleep(60_000)
  },
  talkative: async ({ print }) => {
    for (let line = 0; line < 20_000; line += 1) {
      print(`line ${line}`)
      // Lets the program notice a closed pipe.
      if (line % 1000 === 0) await new Promise(setImmediate)
    }
  },
  patient: async ({ print }) => {
    for (let line = 0; line < 20_000; line += 1) print(`line ${line}`)
    setTimeout(() => process.stderr.write('still open\n'), 11_000)
  },
  broken: async () => {
    process.nextTick(() => JSON.parse('{'))
    await systemClock.sleep(60_000)
  },
  forgetful: async () => {
    void Promise.reject(new Error('nobody caught this'))
    await systemClock.sleep(60_000)
  },
  stuck: async () => await new Promise(() => {}),
  // A job file may do this.
  leaver: async () => process.exit(0),
  brief: async ({ print }) => {
    print('done')
    // Like a log line.
    process.stderr.write('\n')
  },
  untidy: async ({ print }) => {
    setInterval(() => {}, 1000)
    print('done')
  },
}

const commands = Object.entries(verbs).map(([verb, act]) => {
  const run = async (context: CliContext) => await act(context).then(() => 0)
  return [verb, [verb, async () => ({ help: () => verb, run })] as const] as const
})
void main(Object.fromEntries(commands))
