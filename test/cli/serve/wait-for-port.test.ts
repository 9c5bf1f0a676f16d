import { once } from 'node:events'
import { createServer } from 'node:net'
import { expect, test } from 'vitest'
import { waitForPort } from '../../../src/cli/serve/wait-for-port.ts'
import { createTestContext } from '../../helpers/cli-context.ts'
import { createFakeClock } from '../../helpers/fake-clock.ts'

const host = '127.0.0.1'

async function holdPort() {
  const server = createServer().listen(0, host)
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  const free = async (): Promise<void> => {
    server.close()
    await once(server, 'close')
  }
  return { port: address.port, free }
}

test('a port that is let go is waited for, and said so once', async () => {
  const { port, free } = await holdPort()
  const fake = createFakeClock({ isAutomatic: true })
  // Whoever holds it ends while the fourth wait is on.
  const sleep = async (ms: number) => {
    await fake.sleep(ms)
    if (fake.waits.length === 4) await free()
  }
  const { context, remarked } = createTestContext({ clock: { ...fake, sleep } })
  await waitForPort({ host, port }, context)
  expect(fake.waits).toHaveLength(4)
  expect(remarked).toEqual([`status page: another program listens on port ${port}, which is waited for`])
})

test('one that is kept is not waited for longer than a process takes to end', async () => {
  const { port, free } = await holdPort()
  const clock = createFakeClock({ isAutomatic: true })
  const { context } = createTestContext({ clock })
  await waitForPort({ host, port }, context)
  const waitedMs = clock.waits.reduce((sum, each) => sum + each, 0)
  expect(waitedMs).toBeGreaterThan(10_000)
  expect(waitedMs).toBeLessThan(15_000)
  await free()
})

test('a free port, and an address that is not of this machine, are not waited for', async () => {
  const clock = createFakeClock({ isAutomatic: true })
  const { context, remarked } = createTestContext({ clock })
  await waitForPort({ host, port: 0 }, context)
  await waitForPort({ host: '192.0.2.1', port: 8787 }, context)
  expect([clock.waits, remarked]).toEqual([[], []])
})

test('a signal ends the waiting', async () => {
  const { port, free } = await holdPort()
  const { context } = createTestContext({ signal: AbortSignal.abort(new Error('stop')) })
  await expect(waitForPort({ host, port }, context)).rejects.toThrow('stop')
  await free()
})
