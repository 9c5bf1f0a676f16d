import { once } from 'node:events'
import { type AddressInfo, createServer, Socket } from 'node:net'
import { sql } from 'kysely'
import { Pool } from 'pg'
import { expect, test } from 'vitest'
import { clientFor, translatingPool } from '../../src/store/driver.ts'
import { openSession } from '../../src/store/open-session.ts'
import { openDatabase, requireServerVersion } from '../../src/store/pool.ts'
import { errorOf } from '../helpers/connect-client.ts'
import { createTestDatabase, databaseUrl, onServer } from '../helpers/postgres.ts'

const SECRET = 'hunter2hunter2'

/** Listens on a port while `work` runs, and sends nothing unless `onConnection` does. */
async function withListener<T>(work: (port: number) => Promise<T>, onConnection: (socket: Socket) => void = () => {}) {
  const sockets: Socket[] = []
  const server = createServer((socket) => {
    sockets.push(socket)
    socket.on('error', () => {})
    onConnection(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = Object(server.address()) satisfies AddressInfo
  try {
    return await work(port)
  } finally {
    for (const socket of sockets) socket.destroy()
    server.close()
    await once(server, 'close')
  }
}

const failureOf = async (url: string, signal?: AbortSignal) =>
  await errorOf(openDatabase(url, signal ? { signal } : {}))

test('a server that must prove itself is reached over TLS if the URL says so', async () => {
  const received: Buffer[] = []
  const options = 'require_auth=scram-sha-256&sslmode=no-verify'
  const open = async (port: number) => await failureOf(`postgres://me:${SECRET}@127.0.0.1:${port}/warehouse?${options}`)
  await withListener(open, (socket) => {
    socket.once('data', () => {
      socket.write('S')
      socket.once('data', (data) => {
        received.push(data)
        socket.destroy()
      })
    })
  })
  // The TLS record type of a ClientHello.
  expect(received[0]?.[0]).toBe(0x16)
})

test('a server that must prove itself and is too slow is not called an impostor', async () => {
  const error = await withListener(async (port) => {
    const connectionString = `postgres://me:${SECRET}@127.0.0.1:${port}/warehouse?require_auth=scram-sha-256`
    return await errorOf(new (clientFor(connectionString))({ connectionString, connectionTimeoutMillis: 1 }).connect())
  })
  expect(error).toMatchObject({ message: 'timeout expired' })
})

test('a connection that lacks the required password is closed, so that it does not delay the exit', async () => {
  const authentication = (step: number, text: string) =>
    `R${String.fromCodePoint(0, 0, 0, 8 + text.length, 0, 0, 0, step)}${text}`
  const closed = Promise.withResolvers<unknown>()
  const open = async (port: number) => {
    const failure = await failureOf(`postgres://me@127.0.0.1:${port}/warehouse`)
    await closed.promise
    return failure
  }
  const error = await withListener(open, (socket) => {
    const steps = [authentication(10, 'SCRAM-SHA-256\0\0'), authentication(11, '')]
    socket.on('data', () => socket.write(steps.shift() ?? ''))
    socket.on('close', closed.resolve)
  })
  expect(error).toMatchObject({ message: expect.stringMatching(/requires a password, but none.*sslrootcert=/) })
})

test('the wait for a silent server can be interrupted', async () => {
  const controller = new AbortController()
  const interruption = new Error('interrupted')
  const error = await withListener(
    (port) => failureOf(`postgres://me@127.0.0.1:${port}/warehouse`, controller.signal),
    () => controller.abort(interruption),
  )
  expect(error).toBe(interruption)
})

test('an unknown user is refused with advice', async () => {
  const error = await failureOf(databaseUrl('postgres', { name: 'livehouse_nobody', password: SECRET }))
  expect(error).toMatchObject({ code: 'db.refused', message: expect.stringContaining('Check the user, the password') })
  expect(String(error)).not.toContain(SECRET)
})

test.each([
  ['a full disk', 'XX000', /^db\.refused .*\(XX000\)\. See its log, and whether its disk is full/, []],
  ['PgBouncer', '08P01', /^db\.unreachable .*ends/, [`R\0\0\0\u0008\0\0\0\0Z\0\0\0\u0005I`]],
])('a session that %s ends, with %s, is reported as such', async (_, state, expected, answers) => {
  const fields = `SFATAL\0VFATAL\0C${state}\0Mit ends\0\0`
  const packets = [...answers, `E\0\0\0${String.fromCodePoint(fields.length + 4)}${fields}`]
  const open = async (port: number) => await failureOf(`postgres://me:${SECRET}@127.0.0.1:${port}/warehouse`)
  const error = await withListener(open, (socket) => {
    socket.on('data', () => (packets.length > 1 ? socket.write(packets.shift() ?? '') : socket.end(packets[0] ?? '')))
  })
  expect(`${Object(error).code} ${String(error)}`).toMatch(expected)
})

test('a connection that the server ends, and a missing table, are reported, and the pool continues', async () => {
  await using database = await createTestDatabase({ isMigrated: false })
  const { db } = database
  const ended = db.transaction().execute(async (transaction) => {
    const self = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(transaction)
    await sql`select pg_terminate_backend(${self.rows[0]?.pid}, 10000)`.execute(db)
    await sql`select`.execute(transaction)
  })
  await expect(ended).rejects.toMatchObject({ code: 'db.refused', details: { sqlState: '57P01' } })
  const raise = async (state: string) =>
    await sql
      .raw(`do $$ begin raise 'ended' using errcode = '${state}', detail = '视图 a 依赖于 b'; end $$`)
      .execute(db)
  for (const state of ['25P03', '25P04', '57P05'])
    await expect(raise(state)).rejects.toThrow(/refuses: .* raise \w+_timeout/)
  for (const state of ['53400', '58030', 'XX001'])
    await expect(raise(state)).rejects.toThrow(/refuses: .* see its log/i)
  await expect(raise('2BP01')).rejects.toThrow(/refuses: 视图 a 依赖于 b \(2BP01\)\. Save its definition/)
  await expect(sql`select from livehouse.gone`.execute(db)).rejects.toThrow(
    /refuses: .*gone.*restored.*Start livehouse/,
  )
  expect((await sql`select 1 as one`.execute(db)).rows).toEqual([{ one: 1 }])
})

test('a statement whose connection is lost fails with the loss, whatever the system calls it', async () => {
  const socket = new Socket()
  const pool = new Pool({ connectionString: databaseUrl('postgres'), stream: () => socket })
  const client = await translatingPool(pool, { target: 'here', setting: 'DATABASE_URL' }).connect()
  await using session = await openSession(databaseUrl('postgres'), 'DATABASE_URL', new AbortController().signal)
  const answers = Promise.allSettled([client.query('select pg_sleep(60)', []), session.query('select pg_sleep(60)')])
  const loss = Object.assign(new Error('read ENETUNREACH'), { code: 'ENETUNREACH' })
  for (const each of [socket, session.client.connection.stream]) each.destroy(loss)
  const unreachable = { reason: { code: 'db.unreachable' } }
  expect(await answers).toMatchObject([unreachable, unreachable])
})

test('a server older than 14 is refused by its version', () => {
  for (const version of ['14.0', '15.18 (Debian 15.18-0)', '18beta1']) requireServerVersion(version, 'DATABASE_URL')
  for (const version of ['13.22', '9.6.24', ''])
    expect(() => requireServerVersion(version, 'DATABASE_URL')).toThrow(expect.objectContaining({ code: 'db.tooOld' }))
  expect(() => requireServerVersion('13.22', 'DATABASE_URL')).toThrow('or use DATABASE_URL=embedded')
  expect(() => requireServerVersion('13.22', '--to')).toThrow('or name another with --to')
})

test('a database with an encoding that cannot hold every text is refused', async () => {
  const name = `livehouse_latin_${process.pid}`
  await onServer(async (admin) => {
    await sql`create database ${sql.id(name)} template template0 encoding 'LATIN1' locale 'C'`.execute(admin)
  })
  try {
    const error = await failureOf(databaseUrl(name))
    expect(error).toMatchObject({ code: 'db.encoding', message: expect.stringMatching(/LATIN1.*needs UTF8/) })
  } finally {
    await onServer(async (admin) => {
      await sql`drop database ${sql.id(name)} with (force)`.execute(admin)
    })
  }
})
