import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** Stands between a program and its database with one connection to give out. */
export interface QueueingPooler extends AsyncDisposable {
  readonly url: string
  /** How many were greeted and had to wait. */
  readonly waited: () => number
}

/** AuthenticationOk and ReadyForQuery (PostgreSQL manual, message formats). */
const GREETING = Buffer.from([
  ...Buffer.from('R'),
  0,
  0,
  0,
  8,
  0,
  0,
  0,
  0,
  ...Buffer.from('Z'),
  0,
  0,
  0,
  5,
  ...Buffer.from('I'),
])

/** As poolers do in session mode: whoever comes while the connection is taken is greeted, and its statements wait. */
export async function startQueueingPooler(url: string): Promise<QueueingPooler> {
  const target = new URL(url)
  const sockets = new Set<Socket>()
  let isTaken = false
  let waited = 0
  const keep = (socket: Socket): Socket => {
    sockets.add(socket)
    return socket.on('error', () => {}).on('close', () => sockets.delete(socket))
  }
  const server = createServer((near) => {
    keep(near)
    if (isTaken) {
      waited++
      near.once('data', () => near.write(GREETING))
      return
    }
    isTaken = true
    const far = keep(connect(Number(target.port), target.hostname))
    near.pipe(far).pipe(near)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = Object(server.address()) satisfies AddressInfo
  const through = new URL(url)
  through.host = `127.0.0.1:${port}`
  // Its greeting proves nothing.
  through.searchParams.delete('require_auth')
  return {
    url: through.href,
    waited: () => waited,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
