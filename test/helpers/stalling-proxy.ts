import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export type StallingProxy = Awaited<ReturnType<typeof startStallingProxy>>

/** Starts a proxy between a program and its database or service. It delays data by `delayMs` in each direction. */
export async function startStallingProxy(url: string, { delayMs = 0 } = {}) {
  const target = new URL(url)
  const sockets = new Set<Socket>()
  const farSockets = new Map<Socket, Socket>()
  let isStalled = false
  let accepted = 0
  const track = (socket: Socket): Socket => {
    sockets.add(socket)
    return socket.on('error', () => {}).on('close', () => sockets.delete(socket))
  }
  const server = createServer((near) => {
    track(near)
    accepted += 1
    if (isStalled) return
    const far = track(connect(Number(target.port), target.hostname))
    farSockets.set(near, far)
    connectBoth(near, far, delayMs)
    near.on('close', () => far.destroy() && farSockets.delete(near))
    far.on('close', () => near.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = Object(server.address()) satisfies AddressInfo
  const proxied = new URL(url)
  proxied.host = `127.0.0.1:${port}`
  return {
    /** The URL of the database or service through the proxy. */
    url: proxied.href,
    acceptedConnections: () => accepted,
    /** From now on, connections stay open and new ones are accepted, but nothing gets through. */
    stall: () => {
      isStalled = true
      for (const socket of sockets) socket.unpipe().pause()
    },
    /** Ends all connections; new ones get through again. */
    reconnect: () => {
      isStalled = false
      for (const socket of sockets) socket.destroy()
    },
    /** Holds back what the program sends over its current connections until `work` has ended. */
    hold: async (work: Promise<unknown>) => {
      const held = [...farSockets]
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
  // Timers of equal length fire in the order in which they were set, so data stays in order.
  near.on('data', (data) => setTimeout(() => far.write(data), delayMs))
  far.on('data', (data) => setTimeout(() => near.write(data), delayMs))
}
