import type { CliContext } from '../../src/cli/command.ts'
import { systemClock } from '../../src/core/clock.ts'
import { lendDatabase } from './postgres.ts'
import { silentLog } from './silent-log.ts'

/** Creates a context for a verb under test, and collects the lines that it prints, and those on standard error. */
export function createTestContext(overrides: Partial<CliContext> = {}) {
  const printed: string[] = []
  const remarks: string[] = []
  const context: CliContext = {
    environment: {},
    version: '1.2.3',
    clock: systemClock,
    log: silentLog,
    openDatabase: lendDatabase,
    addSecret: () => {},
    redact: (text) => text,
    signal: new AbortController().signal,
    print: (line) => void printed.push(line),
    remark: (line) => void remarks.push(line),
    openProgress: async () => ({ report: () => {}, [Symbol.dispose]: () => {} }),
    ...overrides,
  }
  return { context, printed, remarks }
}
