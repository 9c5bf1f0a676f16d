import { chown, mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { systemClock } from '../../../src/core/clock.ts'
import { startEmbedded } from '../../../src/store/embedded.ts'
import { errorOf } from '../../helpers/connect-client.ts'
import { asOrdinaryUser, createPassableFolder, giveToServer, isRoot } from '../../helpers/operating-system.ts'

const never = new AbortController().signal
let folder = ''

beforeAll(async () => {
  folder = await createPassableFolder('cluster')
})

afterAll(() => rm(folder, { recursive: true, force: true }))

const refusalOf = async (dataDir: string) => await errorOf(startEmbedded(dataDir, systemClock, never))

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

/** Data that root put there, beside a folder of whoever comes. */
async function makeForeign(name: string, uid: number): Promise<string> {
  const dataDir = join(folder, name)
  await mkdir(join(dataDir, 'postgres'), { recursive: true })
  await writeFile(join(dataDir, 'postgres', 'PG_VERSION'), '18\n')
  await mkdir(join(dataDir, 'private'))
  if (isRoot) await chown(join(dataDir, 'private'), uid, uid)
  return dataDir
}

test.runIf(isRoot)("root's data is refused to others", async () => {
  const dataDir = await makeForeign('of-root', 65_533)
  expect(await asOrdinaryUser(() => refusalOf(dataDir))).toMatchObject({
    code: 'db.embedded',
    message: expect.stringContaining("PG_VERSION is not the server's own"),
  })
})
