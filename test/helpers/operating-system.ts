import { chmod, lchown } from 'node:fs/promises'
import { createTemporaryFolder } from './temporary-folder.ts'

export const isRoot = process.geteuid?.() === 0

/** Creates a temporary folder that the server's user can enter even if root runs the tests. */
export async function createPassableFolder(name: string): Promise<string> {
  const folder = createTemporaryFolder(name)
  await chmod(folder, 0o755)
  return folder
}

/** Does the work without root's rights, because root may write anywhere. */
export async function asOrdinaryUser<T>(work: () => Promise<T>): Promise<T> {
  if (!isRoot) return work()
  process.seteuid?.(65_533)
  try {
    return await work()
  } finally {
    process.seteuid?.(0)
  }
}

/** If root runs the tests, gives a file, folder or link to an account that the server may run as. */
export async function giveToServer(path: string): Promise<void> {
  if (isRoot) await lchown(path, 65_534, 65_534)
}
