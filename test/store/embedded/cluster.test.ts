import { chown, mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { systemClock } from '../../../src/core/clock.ts'
import { failureIn, prepareCluster } from '../../../src/store/embedded/cluster.ts'
import { translateFileError } from '../../../src/store/embedded/embedded-error.ts'
import { locateHome } from '../../../src/store/embedded/home.ts'
import { startEmbedded } from '../../../src/store/embedded.ts'
import { asOrdinaryUser, createPassableFolder, giveToServer, isRoot } from '../../helpers/operating-system.ts'

const never = new AbortController().signal
let folder = ''

beforeAll(async () => {
  folder = await createPassableFolder('cluster')
})

afterAll(() => rm(folder, { recursive: true, force: true }))

async function refusalOf(dataDir: string): Promise<unknown> {
  return startEmbedded(dataDir, systemClock, never).then(
    () => 'started',
    (error: unknown) => error,
  )
}

test('something else in the place of the data is left alone', async () => {
  const dataDir = join(folder, 'else')
  await mkdir(join(dataDir, 'postgres'), { recursive: true })
  await writeFile(join(dataDir, 'postgres', 'thesis.txt'), 'precious')
  expect(await refusalOf(dataDir)).toMatchObject({
    code: 'db.embedded',
    message: expect.stringContaining('something else than a PostgreSQL data directory'),
  })
  expect(await readdir(join(dataDir, 'postgres'))).toEqual(['thesis.txt'])
})

test('data of another major version is refused by its number', async () => {
  const dataDir = join(folder, 'old')
  await mkdir(join(dataDir, 'postgres'), { recursive: true })
  await writeFile(join(dataDir, 'postgres', 'PG_VERSION'), '17\n')
  for (const path of ['postgres', 'postgres/PG_VERSION']) await giveToServer(join(dataDir, path))
  expect(await refusalOf(dataDir)).toMatchObject({
    code: 'db.embedded',
    message: expect.stringContaining('was made by PostgreSQL 17, this is 18'),
  })
})

test('a full disk is said to be full, by a program and by the system', () => {
  const log = 'initdb: error: could not write file "x": No space left on device\n'
  const systemError = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' })
  for (const error of [failureIn(log, '/data'), translateFileError(systemError, '/data')]) {
    expect(error).toMatchObject({
      code: 'db.embedded',
      message: expect.stringContaining('the disk is full. Make room'),
    })
  }
})

/** Data that root put there, beside a folder of whoever comes. */
async function makeForeign(name: string, uid: number): Promise<string> {
  const dataDir = join(folder, name)
  await mkdir(join(dataDir, 'postgres'), { recursive: true })
  await writeFile(join(dataDir, 'postgres', 'PG_VERSION'), '18\n')
  await mkdir(join(dataDir, 'private'))
  if (isRoot) await chown(join(dataDir, 'private'), uid, uid)
  return dataDir
}

test("another user's data is refused with that user's number", async () => {
  const home = { ...(await locateHome(await makeForeign('other', 0))), owner: { uid: 65_532, gid: 65_532 } }
  await expect(prepareCluster(home, never)).rejects.toThrow(
    `belongs to another user (uid ${process.geteuid?.()}). PostgreSQL does not run as root: give it to the user`,
  )
})

test.runIf(isRoot)("root's data is refused to others", async () => {
  const dataDir = await makeForeign('of-root', 65_533)
  expect(await asOrdinaryUser(() => refusalOf(dataDir))).toMatchObject({
    code: 'db.embedded',
    message: expect.stringContaining('belongs to another user (uid 0). Run as that user'),
  })
})

test('a user without a name, as in some containers, is told to take one', () => {
  const output = 'initdb: could not look up effective user ID 12345: user does not exist'
  expect(failureIn(output, '/data')).toMatchObject({
    code: 'db.embedded',
    message: expect.stringContaining('none for uid 12345. Run as a user of /etc/passwd'),
  })
})
