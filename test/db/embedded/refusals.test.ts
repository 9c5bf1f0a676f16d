import { chmod, cp, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { systemClock } from '../../../src/core/clock.ts'
import { findBinaries } from '../../../src/db/embedded/binaries.ts'
import { failureIn } from '../../../src/db/embedded/cluster.ts'
import { translateFileError } from '../../../src/db/embedded/embedded-error.ts'
import { prepareHome } from '../../../src/db/embedded/home.ts'
import { startEmbedded } from '../../../src/db/embedded.ts'

const never = new AbortController().signal
const isRoot = process.geteuid?.() === 0
let folder = ''

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'livehouse-refusals-'))
  await chmod(folder, 0o755)
})

afterAll(() => rm(folder, { recursive: true, force: true }))

async function refusalOf(dataDir: string): Promise<unknown> {
  return startEmbedded(dataDir, systemClock, never).then(
    () => 'started',
    (error: unknown) => error,
  )
}

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
    message: expect.stringMatching(/is no directory.*Move that file away/),
  })
})

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

test('a directory that this user may not write is refused', async () => {
  const parent = join(folder, 'closed')
  await mkdir(parent, { mode: 0o555 })
  expect(await asOrdinaryUser(() => refusalOf(join(parent, 'data')))).toMatchObject({
    code: 'db.embedded',
    message: expect.stringContaining('cannot be written'),
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

test.runIf(isRoot)("another user's data is refused with that user's number", async () => {
  const dataDir = join(folder, 'foreign')
  await mkdir(join(dataDir, 'postgres'), { recursive: true })
  await writeFile(join(dataDir, 'postgres', 'PG_VERSION'), '18\n')
  expect(await asOrdinaryUser(() => refusalOf(dataDir))).toMatchObject({
    code: 'db.embedded',
    message: expect.stringContaining('belongs to another user (uid 0)'),
  })
})

test('programs without their library links, as npm leaves them without scripts, are copied and linked', async () => {
  const home = await prepareHome(join(folder, 'copied'))
  const { initdb } = await findBinaries(home, never)
  const packageRoot = join(folder, 'package')
  const original = dirname(dirname(dirname(initdb)))
  const isLink = /\.so(\.\d+)?$|\.dylib$/
  await cp(original, packageRoot, {
    recursive: true,
    filter: (source) => !(isLink.test(source) && source.includes(`lib/lib`) && !source.includes('postgresql/')),
  })
  const found = await findBinaries(home, never, packageRoot)
  expect(dirname(dirname(dirname(found.initdb)))).toBe(home.place)
  expect((await readdir(home.place)).filter((name) => !name.startsWith('postgresql-'))).toEqual([])
})

/** Root may write anywhere; these refusals meet everyone else. */
async function asOrdinaryUser<T>(work: () => Promise<T>): Promise<T> {
  if (!isRoot) return work()
  process.seteuid?.(65_533)
  try {
    return await work()
  } finally {
    process.seteuid?.(0)
  }
}
