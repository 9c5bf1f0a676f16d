import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'

/** Above the ports of well-known services, below 32768, where systems take the ports of outgoing connections from. */
const LOWEST_PORT = 20_000
const HIGHEST_PORT = 32_000
const ATTEMPTS = 50

/** The port of last time, so that the connections of BI tools stay valid; another where that is taken. */
export async function choosePort(pgdata: string): Promise<number> {
  const remembered = Number(await readFile(portFile(pgdata), 'utf8').catch(() => ''))
  if (remembered > 0 && (await isFree(remembered))) return remembered
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const port = randomInt(LOWEST_PORT, HIGHEST_PORT)
    if (await isFree(port)) return port
  }
  return randomInt(LOWEST_PORT, HIGHEST_PORT)
}

export async function rememberPort(pgdata: string, port: number): Promise<void> {
  if ((await readFile(portFile(pgdata), 'utf8').catch(() => '')) === String(port)) return
  await writeFile(portFile(pgdata), String(port))
}

function portFile(pgdata: string): string {
  return join(pgdata, 'livehouse.port')
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer()
  try {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
    return true
  } catch {
    return false
  } finally {
    server.close()
  }
}
