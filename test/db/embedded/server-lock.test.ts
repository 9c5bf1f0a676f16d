import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { isStale, readServerLock, removeStaleLock, type ServerLock } from '../../../src/db/embedded/server-lock.ts'
import { createPassableFolder } from '../../helpers/operating-system.ts'

const isLinux = process.platform === 'linux'
let folder = ''

beforeAll(async () => {
  folder = await createPassableFolder('lock')
})

afterAll(() => rm(folder, { recursive: true, force: true }))

async function writeLock(pid: number): Promise<ServerLock> {
  await writeFile(join(folder, 'postmaster.pid'), `${pid}\n${folder}\n1700000000\n25432\n\n127.0.0.1\n\nready\n`)
  const lock = await readServerLock(folder)
  if (lock === undefined) throw new Error('no lock')
  return lock
}

/** Starts a program in `cwd` that says its number, or one that it started, and stays; ends it after `work`. */
async function withProcess(
  file: string,
  args: readonly string[],
  cwd: string,
  work: (pid: number) => Promise<void>,
): Promise<void> {
  const child: ChildProcess = spawn(file, args, { cwd, stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(child, 'exit')
  try {
    const [line] = await once(child.stdout ?? child, 'data')
    await work(Number(String(line)))
  } finally {
    child.kill('SIGKILL')
    await ended
  }
}

const named = "process.title = 'postgres'"
const stay = ['-e', 'console.log(process.pid); setInterval(() => {}, 1000)']
/** Goes by the server's name. */
const stayNamed = ['-e', `${named}; ${stay[1]}`]

test('a lock tells the number, the port and whether connections are taken', async () => {
  expect(await writeLock(4711)).toMatchObject({ pid: 4711, port: 25_432, isReady: true })
  await writeFile(join(folder, 'postmaster.pid'), '')
  expect(await readServerLock(folder)).toBeUndefined()
})

test.runIf(isLinux)('a server in its directory holds its lock', async () => {
  await withProcess(process.execPath, stayNamed, folder, async (pid) => {
    const lock = await writeLock(pid)
    expect(await isStale(lock, folder)).toBe(false)
    await removeStaleLock(lock, folder)
    expect(await readFile(join(folder, 'postmaster.pid'), 'utf8')).toBe(lock.text)
  })
})

test.runIf(isLinux)('a server of another directory, or another program in this one, does not', async () => {
  await withProcess(process.execPath, stayNamed, '/', async (pid) => {
    expect(await isStale(await writeLock(pid), folder)).toBe(true)
  })
  await withProcess(process.execPath, stay, folder, async (pid) => {
    const lock = await writeLock(pid)
    expect(await isStale(lock, folder)).toBe(true)
    await removeStaleLock(lock, folder)
    expect(await readServerLock(folder)).toBeUndefined()
  })
})

test.runIf(isLinux)('a zombie does not', async () => {
  // The shell starts it and becomes a program that never asks how it ended.
  const script = '"$0" -e "$1" & echo $!; exec sleep 60'
  await withProcess('/bin/sh', ['-c', script, process.execPath, named], '/', async (pid) => {
    const readStatus = () => readFile(`/proc/${pid}/stat`, 'utf8')
    while (!(await readStatus()).includes('(postgres) Z')) continue
    expect(await isStale(await writeLock(pid), folder)).toBe(true)
  })
})

test('a lock that another starter has replaced is put back', async () => {
  const judged = await writeLock(4711)
  const fresh = await writeLock(4712)
  await removeStaleLock(judged, folder)
  expect((await readServerLock(folder))?.text).toBe(fresh.text)
})
