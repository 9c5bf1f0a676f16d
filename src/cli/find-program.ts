import { access, constants } from 'node:fs/promises'
import { delimiter, join } from 'node:path'

/** The first program of this name in `PATH`; undefined when there is none. */
export async function findProgram(name: string, path: string | undefined): Promise<string | undefined> {
  for (const directory of (path ?? '').split(delimiter)) {
    if (directory === '') continue
    const file = join(directory, name)
    const isThere = await access(file, constants.X_OK).then(
      () => true,
      () => false,
    )
    if (isThere) return file
  }
  return undefined
}
