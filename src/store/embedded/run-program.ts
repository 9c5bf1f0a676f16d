import { spawn } from 'node:child_process'

/** A user and group of the operating system. */
export interface Owner {
  readonly uid: number
  readonly gid: number
}

export interface ProgramOptions {
  readonly signal?: AbortSignal
  /** Whether it starts a daemon, which would inherit the output pipe and keep it open: then no output is read. */
  readonly isDaemonStarter?: boolean
  readonly input?: string
}

/**
 * Runs a program of PostgreSQL to its end, as the server's user. An abort kills it and, after it is gone, rejects with
 * the signal's reason, so that the caller can remove what it wrote.
 * @returns both output streams; an exit code other than 0 also if it could not be started or was killed
 */
export async function runProgram(
  { owner, place }: { readonly owner: Owner | undefined; readonly place: string },
  file: string,
  args: readonly string[],
  { signal, input, isDaemonStarter = false }: ProgramOptions = {},
): Promise<{ readonly exitCode: number | null; readonly output: string }> {
  signal?.throwIfAborted()
  const output: string[] = []
  const child = spawn(file, args, {
    cwd: place,
    ...owner,
    signal,
    // Drops the caller's PGDATA, PGPORT, LANG …. Messages are in English, as they are matched and shown.
    env: { LC_ALL: 'C' },
    stdio: isDaemonStarter ? 'ignore' : ['pipe', 'pipe', 'pipe'],
    windowsHide: true,
  })
  child.on('error', (error) => output.push(error.message))
  // The program may end before it has read its input; then its exit code tells why.
  child.stdin?.on('error', () => {}).end(input)
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => output.push(String(chunk)))
  const exitCode = await new Promise<number | null>((resolve) => child.on('close', resolve))
  signal?.throwIfAborted()
  return { exitCode, output: output.join('').trim() }
}
