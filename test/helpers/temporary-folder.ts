import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const folders: string[] = []

/** A folder that goes when the tests of the file have ended. */
export function createTemporaryFolder(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), `livehouse-${name}-`))
  folders.push(folder)
  return folder
}

/** A file in such a folder. @returns its path */
export function createTemporaryFile(name: string, content: string | Uint8Array): string {
  const path = join(createTemporaryFolder('file'), name)
  writeFileSync(path, content)
  return path
}

/** A folder of job files, by their names. */
export function createJobsFolder(jobs: Readonly<Record<string, string>>): string {
  const folder = createTemporaryFolder('jobs')
  for (const [name, text] of Object.entries(jobs)) writeFileSync(join(folder, `${name}.ts`), text)
  return folder
}

/** Those of the file that has ended. */
export function removeTemporaryFolders(): void {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
}
