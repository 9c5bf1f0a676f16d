import { once } from 'node:events'
import { createServer } from 'node:net'
import { expect, test } from 'vitest'
import { checkListener } from '../../../src/store/embedded/find-server.ts'

test.runIf(process.platform === 'linux')('what listens on the port has to run as the user of the server', async () => {
  const uid = process.geteuid?.() ?? 0
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = Object(server.address())
  const home = { dataDir: '/data', owner: { uid, gid: uid } }
  expect(await checkListener(port, home)).toBe(true)
  const ofAnother = { ...home, owner: { uid: uid + 1, gid: uid } }
  await expect(checkListener(port, ofAnother)).rejects.toThrow(`another user (uid ${uid}) listens on its port ${port}`)
  server.close()
  await once(server, 'close')
  expect(await checkListener(port, home)).toBe(false)
})
