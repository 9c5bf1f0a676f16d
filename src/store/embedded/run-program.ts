import { spawn } from 'node:child_process'
import type { Owner } from './home.ts'

export interface ProgramResult {
  /** Null when it could not be started or a signal ended it. */
  readonly exitCode: number | null
  /** Both streams; empty where `isDaemonStarter`. */
  readonly output: string
}

export interface ProgramOptions {
  /** As whom it runs, where not as this process. */
  readonly owner: Owner | undefined
  readonly cwd: string
  readonly signal: AbortSignal
  /** A daemon that inherits a pipe keeps it open for ever: then nothing is read. */
  readonly isDaemonStarter?: boolean
  /** What it reads from its standard input. */
  readonly input?: string
}

/**
 * Runs a program of PostgreSQL to its end. An abort ends it and rejects with the signal's reason, but only when it is
 * gone, so that what it wrote can be removed.
 */
export async function runProgram(
  file: string,
  args: readonly string[],
  { owner, cwd, signal, input, isDaemonStarter = false }: ProgramOptions,
): Promise<ProgramResult> {
  signal.throwIfAborted()
  const output: string[] = []
  const exitCode = await new Promise<number | null>((resolve) => {
    const child = spawn(file, args, {
      cwd,
      ...owner,
      // Nothing of PGDATA, PGPORT, LANG … of the caller; messages in English, which is what is matched and shown.
      env: { LC_ALL: 'C' },
      stdio: isDaemonStarter ? 'ignore' : ['pipe', 'pipe', 'pipe'],
      windowsHide: true,
    })
    const end = () => child.kill()
    signal.addEventListener('abort', end, { once: true })
    // Where it has ended before it read that, its exit code says so.
    child.stdin?.on('error', () => {}).end(input)
    child.stdout?.on('data', (chunk) => output.push(String(chunk)))
    child.stderr?.on('data', (chunk) => output.push(String(chunk)))
    child.on('error', (error) => {
      output.push(error.message)
      resolve(null)
    })
    child.on('close', (code) => {
      signal.removeEventListener('abort', end)
      resolve(code)
    })
  })
  signal.throwIfAborted()
  return { exitCode, output: output.join('').trim() }
}
