import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { checkListener, findServer } from '../../../src/store/embedded/find-server.ts'
import type { Home } from '../../../src/store/embedded/home.ts'
import { createPassableFolder } from '../../helpers/operating-system.ts'

const uid = process.geteuid?.() ?? 0
let home: Home

beforeAll(async () => {
  const folder = await createPassableFolder('lock')
  home = { dataDir: folder, private: folder, place: folder, pgdata: folder, owner: { uid, gid: uid } }
})

afterAll(() => rm(home.pgdata, { recursive: true, force: true }))

async function writeLock(pid: number | string): Promise<void> {
  const text = `${pid}\n${home.pgdata}\n1700000000\n25432\n\n127.0.0.1\n\nready\n`
  await writeFile(join(home.pgdata, 'postmaster.pid'), text)
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

test.each(['', 'half a num', '-1', '0'])('a lock that begins with %j names no server', async (pid) => {
  await writeLock(pid)
  expect(await findServer(home)).toBeUndefined()
})

describe.runIf(process.platform === 'linux')('a lock is that of a server', () => {
  test('where a server of this user works in its directory', async () => {
    await withProcess(process.execPath, stayNamed, home.pgdata, async (pid) => {
      await writeLock(pid)
      expect(await findServer(home)).toEqual({ port: 25_432, isReady: true })
    })
    await rm(join(home.pgdata, 'postmaster.pid'))
  })

  test('not of one in another directory, nor of another program in this one', async () => {
    for (const [program, cwd] of [
      [stayNamed, '/'],
      [stay, home.pgdata],
    ] as const) {
      await withProcess(process.execPath, program, cwd, async (pid) => {
        await writeLock(pid)
        expect(await findServer(home)).toBeUndefined()
      })
    }
  })

  test('not of a zombie', async () => {
    // The shell starts it and becomes a program that never asks how it ended.
    const script = '"$0" -e "$1" & echo $!; exec sleep 60'
    await withProcess('/bin/sh', ['-c', script, process.execPath, named], home.pgdata, async (pid) => {
      const readStatus = () => readFile(`/proc/${pid}/stat`, 'utf8')
      while (!(await readStatus()).includes('(postgres) Z')) continue
      await writeLock(pid)
      expect(await findServer(home)).toBeUndefined()
    })
  })

  test('whose port nobody else took', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = Object(server.address())
    expect(await checkListener(port, home)).toBe(true)
    const ofAnother = { ...home, owner: { uid: uid + 1, gid: uid } }
    await expect(checkListener(port, ofAnother)).rejects.toThrow(
      `another user (uid ${uid}) listens on its port ${port}`,
    )
    server.close()
    await once(server, 'close')
    expect(await checkListener(port, home)).toBe(false)
  })
})
