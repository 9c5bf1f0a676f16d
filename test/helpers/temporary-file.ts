import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createTemporaryFolder } from './temporary-folder.ts'

/** A file that goes when the tests of the file have ended. @returns its path */
export function createTemporaryFile(name: string, content: string | Uint8Array): string {
  const path = join(createTemporaryFolder('file'), name)
  writeFileSync(path, content)
  return path
}
