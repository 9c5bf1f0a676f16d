import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const folders: string[] = []

/** Creates a folder that is removed after the tests of the file. */
export function createTemporaryFolder(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), `livehouse-${name}-`))
  folders.push(folder)
  return folder
}

/** Creates a file in such a folder. @returns its path */
export function createTemporaryFile(name: string, content: string | Uint8Array): string {
  const path = join(createTemporaryFolder('file'), name)
  writeFileSync(path, content)
  return path
}

/** Creates a folder of job files. @param jobs the text of each file by the name of its job */
export function createJobsFolder(jobs: Readonly<Record<string, string>>): string {
  const folder = createTemporaryFolder('jobs')
  for (const [name, text] of Object.entries(jobs)) writeFileSync(join(folder, `${name}.ts`), text)
  return folder
}

/** Removes the folders of a test file that has ended. */
export function removeTemporaryFolders(): void {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
}
