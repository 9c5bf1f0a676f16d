import { spawn } from 'node:child_process'
import type { Home } from './home.ts'

export interface ProgramOptions {
  readonly signal: AbortSignal
  /** Where it works; the home's place if not given. */
  readonly cwd?: string
  /** A daemon that inherits a pipe keeps it open for ever: then nothing is read. */
  readonly isDaemonStarter?: boolean
  /** What it reads from its standard input. */
  readonly input?: string
}

/**
 * Runs a program of PostgreSQL to its end, as the server's user. An abort ends it and rejects with the signal's reason,
 * but only when it is gone, so that what it wrote can be removed.
 * @returns an exit code other than 0 also where it could not be started or a signal ended it; both streams
 */
export async function runProgram(
  { owner, place }: Pick<Home, 'owner' | 'place'>,
  file: string,
  args: readonly string[],
  { signal, cwd = place, input, isDaemonStarter = false }: ProgramOptions,
): Promise<{ readonly exitCode: number | null; readonly output: string }> {
  signal.throwIfAborted()
  const output: string[] = []
  const child = spawn(file, args, {
    cwd,
    ...owner,
    signal,
    // Nothing of PGDATA, PGPORT, LANG … of the caller; messages in English, which is what is matched and shown.
    env: { LC_ALL: 'C' },
    stdio: isDaemonStarter ? 'ignore' : ['pipe', 'pipe', 'pipe'],
    windowsHide: true,
  })
  child.on('error', (error) => output.push(error.message))
  // Where it has ended before it read that, its exit code says so.
  child.stdin?.on('error', () => {}).end(input)
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => output.push(String(chunk)))
  const exitCode = await new Promise<number | null>((resolve) => child.on('close', resolve))
  signal.throwIfAborted()
  return { exitCode, output: output.join('').trim() }
}
