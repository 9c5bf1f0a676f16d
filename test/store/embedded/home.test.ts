import { chmod, mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { systemClock } from '../../../src/core/clock.ts'
import { startEmbedded } from '../../../src/store/embedded.ts'
import { serverOwner } from '../../../src/store/embedded/home.ts'
import { errorOf } from '../../helpers/connect-client.ts'
import { asOrdinaryUser, createPassableFolder, giveToServer, isRoot } from '../../helpers/operating-system.ts'

const never = new AbortController().signal
let folder = ''

beforeAll(async () => {
  folder = await createPassableFolder('home')
})

afterAll(() => rm(folder, { recursive: true, force: true }))

const refusalOf = async (dataDir: string) => await errorOf(startEmbedded(dataDir, systemClock, never))

test('a path that PostgreSQL cannot take is refused before anything is made', async () => {
  const dataDir = join(folder, 'a"b')
  expect(await refusalOf(dataDir)).toMatchObject({
    code: 'db.embedded',
    message: expect.stringContaining('LIVEHOUSE_DATA_DIR'),
  })
  expect(await readdir(folder)).not.toContain('a"b')
})

test('a file in the place of the directory is named', async () => {
  const dataDir = join(folder, 'file')
  await writeFile(dataDir, '')
  expect(await refusalOf(dataDir)).toMatchObject({
    code: 'db.embedded',
    message: expect.stringMatching(/cannot be used \(EEXIST.*Make it a directory/),
  })
})

test('a directory that this user may not write is refused', async () => {
  const parent = join(folder, 'closed')
  await mkdir(parent, { mode: 0o555 })
  expect(await asOrdinaryUser(() => refusalOf(join(parent, 'data')))).toMatchObject({
    code: 'db.embedded',
    message: expect.stringContaining('cannot be used (EACCES'),
  })
})

test.runIf(isRoot)('as root, a data directory that nobody can enter is told of', async () => {
  const dataDir = join(folder, 'private', 'data')
  await mkdir(join(dataDir, 'postgres'), { recursive: true })
  await chmod(join(folder, 'private'), 0o700)
  expect(await refusalOf(dataDir)).toMatchObject({
    code: 'db.embedded',
    message: expect.stringMatching(/cannot enter .*chmod o\+x/),
  })
})

test('root runs the server as the owner of its data, else as the account livehouse, else as nobody; others as themselves', async () => {
  const folder = await createPassableFolder('owner')
  const data = join(folder, 'data')
  const accounts = join(folder, 'passwd')
  const others = join(folder, 'others')
  await writeFile(accounts, 'root:x:0:0::/root:/bin/sh\nlivehouse:x:977:978::/:/usr/sbin/nologin\n')
  await writeFile(
    others,
    'livehouse-old:x:977:978::/:/bin/sh\nroot:x:0:0:livehouse:x:1:2:\nlivehouse:x:0:0::/:/bin/sh\n',
  )
  const asRoot = (uid: number, gid: number) => (isRoot ? { uid, gid } : undefined)
  expect(await serverOwner(data, accounts)).toEqual(asRoot(977, 978))
  expect(await serverOwner(data, others)).toEqual(asRoot(65_534, 65_534))
  await mkdir(data)
  expect(await serverOwner(data, accounts)).toEqual(asRoot(977, 978))
  await giveToServer(data)
  expect(await serverOwner(data, accounts)).toEqual(asRoot(65_534, 65_534))
  await rm(folder, { recursive: true })
})
