import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export type StallingProxy = Awaited<ReturnType<typeof startStallingProxy>>

/** Stands between a program and its database or service. What passes takes `delayMs` longer in each direction. */
export async function startStallingProxy(url: string, { delayMs = 0 } = {}) {
  const target = new URL(url)
  const sockets = new Set<Socket>()
  const ways = new Map<Socket, Socket>()
  let isStalled = false
  let taken = 0
  const keep = (socket: Socket): Socket => {
    sockets.add(socket)
    return socket.on('error', () => {}).on('close', () => sockets.delete(socket))
  }
  const server = createServer((near) => {
    keep(near)
    taken += 1
    if (isStalled) return
    const far = keep(connect(Number(target.port), target.hostname))
    ways.set(near, far)
    connectBoth(near, far, delayMs)
    near.on('close', () => far.destroy() && ways.delete(near))
    far.on('close', () => near.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = Object(server.address()) satisfies AddressInfo
  const through = new URL(url)
  through.host = `127.0.0.1:${port}`
  return {
    /** The URL through it. */
    url: through.href,
    taken: () => taken,
    /** From now on connections stay open, new ones are taken, and nothing gets through. */
    stall: () => {
      isStalled = true
      for (const socket of sockets) socket.unpipe().pause()
    },
    /** Ends what was stalled; new connections get through again. */
    goOn: () => {
      isStalled = false
      for (const socket of sockets) socket.destroy()
    },
    /** What is sent over the connections of now arrives when that has ended. */
    hold: async (work: Promise<unknown>) => {
      const held = [...ways]
      for (const [near, far] of held) near.unpipe(far)
      await work.finally(() => held.forEach(([near, far]) => near.pipe(far)))
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

function connectBoth(near: Socket, far: Socket, delayMs: number): void {
  if (delayMs === 0) {
    near.pipe(far)
    far.pipe(near)
    return
  }
  // Timers of equal length fire in their order, so what passes stays in its own.
  near.on('data', (data) => setTimeout(() => far.write(data), delayMs))
  far.on('data', (data) => setTimeout(() => near.write(data), delayMs))
}
