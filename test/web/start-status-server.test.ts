import { request } from 'node:http'
import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { ofFile } from '../helpers/of-file.ts'
import { createTestDatabase } from '../helpers/postgres.ts'
import { startTestStatusServer } from '../helpers/status-server.ts'

const database = ofFile(createTestDatabase)
const open = ofFile(() => startTestStatusServer(database))
/** `fetch` does not send a Host header of its own. */
async function statusFor(url: string, headers: Readonly<Record<string, string>>): Promise<number | undefined> {
  const [response] = await once(request(url, { headers }).end(), 'response')
  response.resume()
  return response.statusCode
}

test('connections that never end their request are closed, and make room for the probes', async () => {
  const { hostname, port } = new URL(open.server.url)
  const sockets = Array.from({ length: 520 }, () => connect(Number(port), hostname))
  try {
    // Each one is closed by the server: the first 500 for being late, the others since there are too many.
    await Promise.all(
      sockets.map(async (socket) => {
        socket.on('error', () => {}).resume()
        socket.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n')
        if (!socket.closed) await new Promise((resolve) => socket.once('close', resolve))
      }),
    )
    expect((await open.get('/healthz')).status).toBe(200)
  } finally {
    for (const socket of sockets) socket.destroy()
  }
})

const pages = ['/', '/channels', '/channels/none', '/runs', '/runs/1', '/quarantine']
const paths = [...pages, '/healthz', '/readyz', '/metrics', '/nothing', '/assets/x']

test.each(paths)('%s is answered with the headers that keep a browser safe', async (path) => {
  const { headers } = await open.get(path)
  const policy = headers.get('content-security-policy') ?? ''
  expect(policy).toContain("default-src 'none'")
  expect(policy).toContain("script-src 'self'; style-src 'self'")
  expect(policy).toContain("frame-ancestors 'none'")
  expect(policy).not.toMatch(/unsafe|data:|\*|http/)
  expect(headers.get('x-content-type-options')).toBe('nosniff')
  expect(headers.get('referrer-policy')).toBe('no-referrer')
  expect(headers.get('cache-control')).toBe('no-store')
})

test.each(['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'])('%s is not allowed anywhere', async (method) => {
  for (const path of [...paths, '/login', '/actions/run']) {
    const answer = await open.get(path, {}, method)
    expect([path, answer.status, answer.headers.get('allow')]).toEqual([path, 405, 'GET, HEAD'])
  }
})

test('a page without data says so, loads nothing from elsewhere, and has no script or style of its own', async () => {
  const page = await open.text('/')
  expect(page).toContain('Nothing has run yet')
  expect(page).not.toMatch(/<script(?![^>]* src="\/assets\/)|<style|\son\w+=|\sstyle=|https?:\/\//)
  for (const [, path = ''] of page.matchAll(/(?:src|href)="(\/assets\/[^"]*)"/g)) {
    const asset = await open.get(path)
    expect([path, asset.status]).toEqual([path, 200])
    expect(asset.headers.get('cache-control')).toContain('immutable')
  }
})

test('on loopback without a token a page under another name sees nothing: it would be somebody else’s', async () => {
  for (const host of ['evil.example', 'localhost.evil.example', '127.0.0.1.evil.example:80', '10.0.0.1']) {
    for (const path of ['/', '/metrics', '/channels'])
      expect([host, await statusFor(open.server.url + path, { host })]).toEqual([host, 403])
  }
  for (const host of ['localhost:1', 'LOCALHOST', '127.9.9.9', '[::1]:8787'])
    expect([host, await statusFor(`${open.server.url}/`, { host })]).toEqual([host, 200])
  expect(await statusFor(`${open.server.url}/healthz`, { host: 'evil.example' })).toBe(200)
})
