import { constants } from 'node:fs'
import { open, readFile, readlink, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { codeOf } from '../../core/errors.ts'
import { embeddedError, type Home, translateFileError } from './home.ts'

/** The file in which a running server records its process id and port. */
export const LOCK_FILE = 'postmaster.pid'

/** The server that runs on the data; undefined if none does, even if a lock file was left behind. */
export async function findServer(home: Home): Promise<{ port: number; isReady: boolean } | undefined> {
  const lines = ((await readServerFile(home, LOCK_FILE)) ?? '').split('\n').map((line) => line.trim())
  const pid = Number(lines[0])
  if (!Number.isInteger(pid) || pid <= 0 || !(await isServer(pid, home))) return undefined
  return { port: Number(lines[3]), isReady: lines[7] === 'ready' }
}

/** Whether a process is the server: it works in the data directory, as no zombie or other program does. */
async function isServer(pid: number, { pgdata }: Home): Promise<boolean> {
  try {
    if (process.platform !== 'linux') return process.kill(pid, 0)
    const data = await realpath(pgdata)
    const workingDirectory = await readlink(`/proc/${pid}/cwd`).catch(codeOf)
    if (workingDirectory !== 'EACCES') return workingDirectory === data
    // In a container whose root may not trace processes, only the command line shows. A zombie's is empty.
    const [, argument = ''] = /\0-D\0([^\0]+)/.exec(await readFile(`/proc/${pid}/cmdline`, 'utf8')) ?? []
    return (await realpath(argument)) === data
  } catch {
    return false
  }
}

/**
 * Reads a file in the data directory; undefined if there is none. The server's user may put anything there, and root
 * reads it: so links are not followed, and a pipe is not waited for.
 * @throws db.embedded if it cannot be read, or is anything but a file of the server's user
 */
export async function readServerFile({ dataDir, pgdata, owner }: Home, name: string): Promise<string | undefined> {
  const path = join(pgdata, name)
  const refuse = (what: string, cause?: unknown) =>
    embeddedError(dataDir, `${path} ${what}`, 'Find out who put it there, and remove it', cause)
  try {
    await using file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    const info = await file.stat()
    if (!info.isFile()) throw refuse('is not a file')
    if (info.uid !== (owner?.uid ?? process.geteuid?.() ?? info.uid)) throw refuse("is not owned by the server's user")
    return await file.readFile('utf8')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw codeOf(error) === 'ELOOP' ? refuse('is a link', error) : translateFileError(error, dataDir)
  }
}
