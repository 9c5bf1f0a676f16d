import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** Stands between a program and its database. */
export interface StallingProxy extends AsyncDisposable {
  /** The URL of the database through it. */
  readonly url: string
  /** From now on connections stay open, new ones are taken, and nothing gets through. */
  readonly stall: () => void
  /** Ends what was stalled; new connections get through again. */
  readonly goOn: () => void
}

export async function startStallingProxy(url: string): Promise<StallingProxy> {
  const target = new URL(url)
  const sockets = new Set<Socket>()
  let isStalled = false
  const keep = (socket: Socket): Socket => {
    sockets.add(socket)
    return socket.on('error', () => {}).on('close', () => sockets.delete(socket))
  }
  const server = createServer((near) => {
    keep(near)
    if (isStalled) return
    const far = keep(connect(Number(target.port), target.hostname))
    near.pipe(far)
    far.pipe(near)
    near.on('close', () => far.destroy())
    far.on('close', () => near.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = Object(server.address()) satisfies AddressInfo
  const through = new URL(url)
  through.host = `127.0.0.1:${port}`
  return {
    url: through.href,
    stall: () => {
      isStalled = true
      for (const socket of sockets) socket.unpipe().pause()
    },
    goOn: () => {
      isStalled = false
      for (const socket of sockets) socket.destroy()
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
