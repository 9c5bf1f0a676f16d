import { commands } from '../../src/cli/commands.ts'
import { runCommandLine } from '../../src/cli/run-command-line.ts'
import type { Environment } from '../../src/config/setting-source.ts'
import { systemClock } from '../../src/core/clock.ts'

/** Runs the command line in this process, with all or only the given commands, and without the real environment. */
export async function livehouse(
  argv: readonly string[],
  environment: Environment = {},
  available: Parameters<typeof runCommandLine>[0]['commands'] = commands,
  signal = new AbortController().signal,
) {
  const out: string[] = []
  const err: string[] = []
  const code = await runCommandLine({
    argv,
    version: '1.2.3',
    commands: available,
    environment,
    clock: systemClock,
    signal,
    emergency: new Promise<never>(() => {}),
    writeOut: (text) => void out.push(text),
    writeError: (text) => void err.push(text),
    isTerminal: false,
    isOutputTerminal: false,
  })
  return { code, out: out.join(''), err: err.join('') }
}
