import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stopEmbedded } from '../../src/store/embedded.ts'

const folders: string[] = []
const dataDirs: string[] = []

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

/** Stops the embedded server of a data directory after the tests of the file. @returns the directory */
export function stopAtEnd(dataDir: string): string {
  dataDirs.push(dataDir)
  return dataDir
}

/** Stops the servers and removes the folders of a test file that has ended. */
export async function removeTemporaryFolders(): Promise<void> {
  for (const dataDir of dataDirs.splice(0)) await stopEmbedded(dataDir, new AbortController().signal)
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
}
