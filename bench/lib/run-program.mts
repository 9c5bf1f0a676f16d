import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../..', import.meta.url))

export interface ProgramRun {
  readonly wallMs: number
  /** User and system time of the launcher and of the processes that it starts. */
  readonly cpuUs: number
  /** The largest peak of resident memory of any of its processes. */
  readonly peakMb: number
  readonly stdout: string
  readonly code: number
}

export interface ProgramOptions {
  readonly env?: Readonly<Record<string, string>>
  readonly signal: AbortSignal
  /** Called with the process once it is spawned. */
  readonly onStart?: (child: ChildProcess) => void
  /** Exit codes that are not failures; only 0 by default. */
  readonly accepted?: readonly number[]
}

/** Runs a Node program of this project to its end and measures it from outside, including its start. */
export async function runProgram(args: readonly string[], options: ProgramOptions): Promise<ProgramRun> {
  const folder = await mkdtemp(join(tmpdir(), 'livehouse-bench-run-'))
  const usageFile = join(folder, 'usage')
  try {
    const startedAt = performance.now()
    const child = spawn(process.execPath, [...args], {
      cwd: root,
      env: {
        PATH: process.env.PATH,
        HOME: process.env.HOME,
        NODE_OPTIONS: `--require ${join(root, 'bench/lib/usage.cjs')}`,
        LIVEHOUSE_BENCH_USAGE: usageFile,
        ...options.env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
      signal: options.signal,
    })
    options.onStart?.(child)
    const output = { stdout: '', stderr: '' }
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output.stdout += text))
    child.stderr.setEncoding('utf8').on('data', (text: string) => (output.stderr += text))
    const [code] = await once(child, 'close')
    const wallMs = performance.now() - startedAt
    if (!(options.accepted ?? [0]).includes(Number(code))) {
      throw new Error(
        `${args.join(' ')} exited with ${code}:\n${output.stdout.slice(-2000)}\n${output.stderr.slice(-2000)}`,
      )
    }
    const uses = (await readFile(usageFile, 'utf8')).trim().split('\n').map(readUse)
    return {
      wallMs,
      cpuUs: uses.reduce((sum, use) => sum + use.cpuUs, 0),
      peakMb: Math.max(...uses.map(({ peakKb }) => peakKb)) / 1024,
      stdout: output.stdout,
      code: Number(code),
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function readUse(line: string): { readonly cpuUs: number; readonly peakKb: number } {
  const { cpuUs, peakKb } = Object(JSON.parse(line))
  return { cpuUs: Number(cpuUs), peakKb: Number(peakKb) }
}
