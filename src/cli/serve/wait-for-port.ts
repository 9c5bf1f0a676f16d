import { once } from 'node:events'
import { createServer } from 'node:net'
import type { CliContext } from '../command.ts'

/** A process that is being replaced ends within 10 s; nobody who has given a wrong port should wait for long. */
const WAIT_MS = 12_000
const POLL_MS = 500

/**
 * Waits a while for a port that another process holds, such as the one that this one replaces; whoever listens there next finds out
 * all that is wrong. @throws the signal's reason
 */
export async function waitForPort(
  { host, port }: { readonly host: string; readonly port: number },
  { clock, remark, signal }: Pick<CliContext, 'clock' | 'remark' | 'signal'>,
): Promise<void> {
  const untilMs = clock.now() + WAIT_MS
  for (let isFirst = true; (await isTaken(host, port)) && clock.now() < untilMs; isFirst = false) {
    if (isFirst) remark(`status page: another program listens on port ${port}, which is waited for`)
    await clock.sleep(POLL_MS, signal)
  }
}

async function isTaken(host: string, port: number): Promise<boolean> {
  const server = createServer().listen(port, host)
  try {
    await once(server, 'listening')
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EADDRINUSE'
  }
  server.close()
  await once(server, 'close')
  return false
}
