import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { findServer } from '../../../src/store/embedded/find-server.ts'
import { asOrdinaryUser, createPassableFolder, isRoot } from '../../helpers/operating-system.ts'

test.runIf(isRoot && process.platform === 'linux')(
  'a server whose working directory may not be seen is known by its command',
  async () => {
    const pgdata = await createPassableFolder('hidden')
    const home = { dataDir: pgdata, private: pgdata, place: pgdata, pgdata, owner: { uid: 0, gid: 0 } }
    const server = spawn('tail', ['-f', '/dev/null', pgdata], { stdio: 'ignore' })
    await once(server, 'spawn')
    const found = async (pid: number | undefined) => {
      await writeFile(join(pgdata, 'postmaster.pid'), `${pid}\n\n\n25432\n\n\n\nready\n`, { mode: 0o644 })
      return await asOrdinaryUser(async () => await findServer(home))
    }
    expect(await found(server.pid)).toEqual({ port: 25_432, isReady: true })
    expect(await found(process.ppid)).toBeUndefined()
    server.kill()
    await rm(pgdata, { recursive: true })
  },
)
