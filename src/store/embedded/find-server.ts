import { readFile, readlink, realpath, stat } from 'node:fs/promises'
import { embeddedError } from './embedded-error.ts'
import type { Home } from './home.ts'
import { readServerFile } from './files.ts'

/** The file in which a running server keeps its process id and port. */
export const LOCK_FILE = 'postmaster.pid'

/** The server that works on the data; undefined where none does, whatever lock file was left. */
export async function findServer(home: Home): Promise<{ port: number; isReady: boolean } | undefined> {
  const lines = ((await readServerFile(home, LOCK_FILE)) ?? '').split('\n').map((line) => line.trim())
  const pid = Number(lines[0])
  if (!Number.isInteger(pid) || pid <= 0 || !(await isServer(pid, home))) return undefined
  return { port: Number(lines[3]), isReady: lines[7] === 'ready' }
}

/** Whether a process is the server: no zombie, as in a container without an init, nor a later program with that id. */
async function isServer(pid: number, { pgdata, owner }: Home): Promise<boolean> {
  if (process.platform !== 'linux') return isAlive(pid)
  const { uid } = (await stat(`/proc/${pid}`).catch(() => undefined)) ?? {}
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  const [, name, state] = /^\d+ \((.*)\) (\S)/s.exec(text) ?? []
  if (uid !== serverUid(owner) || name !== 'postgres' || state === 'Z' || state === 'X') return false
  // Unreadable in a container whose root may not trace processes: then user and name decide.
  const cwd = await readlink(`/proc/${pid}/cwd`).catch(() => undefined)
  return cwd === undefined || cwd === (await realpath(pgdata))
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

function serverUid(owner: Home['owner']): number | undefined {
  return owner?.uid ?? process.geteuid?.()
}

/**
 * Makes sure that the process that listens on the port is the server's user's, where the system tells (Linux): another
 * one could relay everything to the true server and read it.
 * @returns whether anything listens
 * @throws db.embedded
 */
export async function checkListener(
  port: number,
  { dataDir, owner }: Pick<Home, 'dataDir' | 'owner'>,
): Promise<boolean> {
  const table = await readFile('/proc/net/tcp', 'utf8').catch(() => undefined)
  if (table === undefined) return true
  // 127.0.0.1 in the byte order of the machine, the port in hexadecimal; 0A is LISTEN (proc_pid_net(5)).
  const address = `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`
  const uids = table
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, local, , state]) => local === address && state === '0A')
    .map((fields) => Number(fields[7]))
  const other = uids.find((uid) => uid !== serverUid(owner))
  if (other === undefined) return uids.length > 0
  const reason = `a process of another user (uid ${other}) listens on its port ${port}`
  throw embeddedError(dataDir, reason, `Find out which one it is (ss -ltnp 'sport = :${port}') and end it`)
}
