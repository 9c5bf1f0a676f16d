import { once } from 'node:events'
import { createServer } from 'node:net'
import { codeOf } from '../translate-error.ts'

/**
 * Works unless another process of this machine works under the same name (of at most 107 bytes), which is free again
 * when its holder is gone. Only Linux has such names (unix(7), abstract); elsewhere, and where the system refuses them,
 * each works.
 * @returns whether it was done
 */
export async function workAlone(name: string, work: () => Promise<void>): Promise<boolean> {
  const holder = createServer()
  if (process.platform === 'linux') {
    try {
      await once(holder.listen(`\0${name}`), 'listening')
    } catch (error) {
      if (codeOf(error) === 'EADDRINUSE') return false
    }
  }
  try {
    await work()
    return true
  } finally {
    holder.close()
  }
}
