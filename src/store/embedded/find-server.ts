import { readFile, readlink, realpath } from 'node:fs/promises'
import type { Home } from './home.ts'
import { readServerFile } from './files.ts'
import { codeOf } from '../../core/errors.ts'

/** The file in which a running server keeps its process id and port. */
export const LOCK_FILE = 'postmaster.pid'

/** The server that works on the data; undefined where none does, whatever lock file was left. */
export async function findServer(home: Home): Promise<{ port: number; isReady: boolean } | undefined> {
  const lines = ((await readServerFile(home, LOCK_FILE)) ?? '').split('\n').map((line) => line.trim())
  const pid = Number(lines[0])
  if (!Number.isInteger(pid) || pid <= 0 || !(await isServer(pid, home))) return undefined
  return { port: Number(lines[3]), isReady: lines[7] === 'ready' }
}

/** Whether a process is the server: it works in the folder of the data, which no zombie or later program does. */
async function isServer(pid: number, { pgdata }: Home): Promise<boolean> {
  if (process.platform !== 'linux') return isAlive(pid)
  const place = await readlink(`/proc/${pid}/cwd`).catch(codeOf)
  if (place !== 'EACCES') return place === (await realpath(pgdata))
  const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
  // Hidden in a container whose root may not trace processes. A zombie's command is empty.
  const paths = command.split('\0').filter((argument) => argument.startsWith('/'))
  const places = await Promise.all(paths.map(async (path) => await realpath(path).catch(() => undefined)))
  return places.includes(await realpath(pgdata))
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
