import { chmod, lchown, mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export const isRoot = process.geteuid?.() === 0

/** A temporary folder that the server's user can pass, where root runs the tests. */
export async function createPassableFolder(name: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), `livehouse-${name}-`))
  await chmod(folder, 0o755)
  return folder
}

/** Root may write anywhere; some refusals meet only everyone else. */
export async function asOrdinaryUser<T>(work: () => Promise<T>): Promise<T> {
  if (!isRoot) return work()
  process.seteuid?.(65_533)
  try {
    return await work()
  } finally {
    process.seteuid?.(0)
  }
}

/** Where root runs the tests: gives a file, folder or link to an account that the server may run as, as if that had made it. */
export async function giveToServer(path: string): Promise<void> {
  if (isRoot) await lchown(path, 65_534, 65_534)
}
