import { chmod, mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { systemClock } from '../../../src/core/clock.ts'
import { serverOwner } from '../../../src/store/embedded/home.ts'
import { startEmbedded } from '../../../src/store/embedded.ts'
import { errorOf } from '../../helpers/connect-client.ts'
import { asOrdinaryUser, createPassableFolder, giveToServer, isRoot } from '../../helpers/operating-system.ts'

const folder = await createPassableFolder('home')

/** The error with which the server does not start in this directory. */
const refusalOf = async (dataDir: string) => {
  const error = await errorOf(startEmbedded(dataDir, systemClock, new AbortController().signal))
  expect(error).toMatchObject({ code: 'db.embedded' })
  return String(error)
}

test('a path that PostgreSQL does not accept, a file and a folder without the right to write are refused', async () => {
  expect(await refusalOf(join(folder, 'a"b'))).toContain('LIVEHOUSE_DATA_DIR')
  expect(await readdir(folder)).not.toContain('a"b')
  await writeFile(join(folder, 'file'), '')
  expect(await refusalOf(join(folder, 'file'))).toMatch(/cannot be used \(EEXIST.*Make it a directory/)
  const parent = join(folder, 'closed')
  await mkdir(parent, { mode: 0o555 })
  expect(await asOrdinaryUser(() => refusalOf(join(parent, 'data')))).toContain('cannot be used (EACCES')
})

test.runIf(isRoot)('as root, a data directory that nobody else can enter is refused', async () => {
  const dataDir = join(folder, 'private', 'data')
  await mkdir(join(dataDir, 'postgres'), { recursive: true })
  await chmod(join(folder, 'private'), 0o700)
  expect(await refusalOf(dataDir)).toMatch(/cannot enter .*chmod o\+x/)
})

/** Creates a data directory with this file. @returns its folder `postgres` */
async function makeData(name: string, file: string, text: string): Promise<string> {
  const data = join(folder, name, 'postgres')
  await mkdir(data, { recursive: true })
  await writeFile(join(data, file), text)
  return data
}

test('a directory with other contents is left alone', async () => {
  const data = await makeData('else', 'thesis.txt', 'precious')
  expect(await refusalOf(join(folder, 'else'))).toContain('is not a PostgreSQL data directory')
  expect(await readdir(data)).toEqual(['thesis.txt'])
})

test.each([
  ['of another major version is refused by its number', '17', /was created by PostgreSQL 17, but this is 18/],
  ['whose password is missing is not started', '18', /its password is gone.*private\/password/],
])('data %s', async (_, version, message) => {
  const data = await makeData(version, 'PG_VERSION', `${version}\n`)
  for (const path of [data, join(data, 'PG_VERSION')]) await giveToServer(path)
  expect(await refusalOf(join(folder, version))).toMatch(message)
})

test("root runs the server as the data's owner, else as livehouse or nobody; other users as themselves", async () => {
  const folder = await createPassableFolder('owner')
  const data = join(folder, 'data')
  const accounts = join(folder, 'passwd')
  const others = join(folder, 'others')
  await writeFile(accounts, 'root:x:0:0::/root:/bin/sh\nlivehouse:x:977:978::/:/usr/sbin/nologin\n')
  await writeFile(others, 'livehouse2:x:977:978::/:/bin/sh\nroot:x:0:0:livehouse:x:1:2:\nlivehouse:x:0:0::/:/bin/sh\n')
  const asRoot = (uid: number, gid: number) => (isRoot ? { uid, gid } : undefined)
  expect(await serverOwner(data, accounts)).toEqual(asRoot(977, 978))
  expect(await serverOwner(data, others)).toEqual(asRoot(65_534, 65_534))
  await mkdir(data)
  expect(await serverOwner(data, accounts)).toEqual(asRoot(977, 978))
  await giveToServer(data)
  expect(await serverOwner(data, accounts)).toEqual(asRoot(65_534, 65_534))
})
