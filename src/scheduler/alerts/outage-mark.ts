import { mkdir, unlink, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * That an operator was told of a database which does not answer: it cannot be written down there. The processes of a machine share
 * it, and it outlives them.
 */
export interface OutageMark {
  /** @returns false where it is there already: then somebody of this machine has told */
  readonly leave: () => Promise<boolean>
  /** @returns whether it was there: then who took it away tells that it is over */
  readonly take: () => Promise<boolean>
}

/** A file; where none can be written, this process remembers by itself. */
export function createOutageMark(file: string): OutageMark {
  let isRemembered = false
  return {
    leave: async () => {
      if (isRemembered) return false
      // Where there can be no folder there can be no file.
      await mkdir(dirname(file), { recursive: true }).catch(() => {})
      try {
        await writeFile(file, '', { flag: 'wx' })
        return true
      } catch (error) {
        if (isCode(error, 'EEXIST')) return false
        isRemembered = true
        return true
      }
    },
    take: async () => {
      const wasRemembered = isRemembered
      isRemembered = false
      const wasThere = await unlink(file).then(
        () => true,
        () => false,
      )
      return wasThere || wasRemembered
    },
  }
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}
