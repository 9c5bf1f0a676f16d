import { randomUUID } from 'node:crypto'
import { link, readdir, readFile, readlink, realpath, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'

/** `postmaster.pid`, which the server writes and removes. */
export interface ServerLock {
  readonly text: string
  readonly pid: number
  readonly port: number
  /** It takes connections. */
  readonly isReady: boolean
}

/** Undefined when there is none, or the server has only begun to write it. */
export async function readServerLock(pgdata: string): Promise<ServerLock | undefined> {
  const text = await readFile(lockFile(pgdata), 'utf8').catch(() => undefined)
  if (text === undefined) return undefined
  const lines = text.split('\n').map((line) => line.trim())
  const pid = Number(lines[0])
  if (!Number.isInteger(pid) || pid === 0) return undefined
  return { text, pid, port: Number(lines[3]), isReady: lines[7] === 'ready' }
}

/**
 * Whether the server that wrote the lock is gone: no such process, a zombie that nobody reaps (in a container without an
 * init), or a process of another program that got its number.
 */
export async function isStale(lock: ServerLock, pgdata: string): Promise<boolean> {
  if (!isAlive(lock.pid)) return true
  if (process.platform !== 'linux') return false
  if (!(await isServer(lock.pid))) return true
  // Unreadable in a container whose root may not trace: then the name decides.
  const cwd = await readlink(`/proc/${lock.pid}/cwd`).catch(() => undefined)
  return cwd !== undefined && cwd !== (await realpath(pgdata))
}

/**
 * Removes a stale lock, as PostgreSQL does not where a zombie has the number. Left alone while processes of that server
 * still work in its directory, and put back when another starter has replaced it in the meantime.
 */
export async function removeStaleLock(lock: ServerLock, pgdata: string): Promise<void> {
  if (await hasProcessIn(pgdata)) return
  const aside = `${lockFile(pgdata)}.${randomUUID()}`
  try {
    await rename(lockFile(pgdata), aside)
  } catch {
    return
  }
  if ((await readFile(aside, 'utf8')) !== lock.text) await link(aside, lockFile(pgdata)).catch(() => {})
  await rm(aside)
}

function lockFile(pgdata: string): string {
  return join(pgdata, 'postmaster.pid')
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

/** Whether this process is a PostgreSQL that is not a zombie, as far as `/proc` tells. */
async function isServer(pid: number): Promise<boolean> {
  const status = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined)
  // Hidden (hidepid) or just gone: the next look tells.
  if (status === undefined) return isAlive(pid)
  const [, name, state] = /^\d+ \((.*)\) (\S)/s.exec(status) ?? []
  return name === 'postgres' && state !== 'Z' && state !== 'X'
}

async function hasProcessIn(pgdata: string): Promise<boolean> {
  const directory = await realpath(pgdata)
  const pids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name)).map(Number)
  const isThere = async (pid: number): Promise<boolean> =>
    (await readlink(`/proc/${pid}/cwd`).catch(() => '')) === directory && isServer(pid)
  return (await Promise.all(pids.map(isThere))).includes(true)
}
