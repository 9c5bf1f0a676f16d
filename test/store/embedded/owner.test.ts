import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { serverOwner } from '../../../src/store/embedded/owner.ts'
import { createPassableFolder, giveToServer, isRoot } from '../../helpers/operating-system.ts'

test('root runs the server as the owner of its data, else as the account livehouse, else as nobody; others as themselves', async () => {
  const folder = await createPassableFolder('owner')
  const data = join(folder, 'data')
  const accounts = join(folder, 'passwd')
  const others = join(folder, 'others')
  await writeFile(accounts, 'root:x:0:0::/root:/bin/sh\nlivehouse:x:977:978::/:/usr/sbin/nologin\n')
  await writeFile(
    others,
    'livehouse-old:x:977:978::/:/bin/sh\nroot:x:0:0:livehouse:x:1:2:\nlivehouse:x:0:0::/:/bin/sh\n',
  )
  const asRoot = (uid: number, gid: number) => (isRoot ? { uid, gid } : undefined)
  expect(await serverOwner(data, accounts)).toEqual(asRoot(977, 978))
  expect(await serverOwner(data, others)).toEqual(asRoot(65_534, 65_534))
  await mkdir(data)
  expect(await serverOwner(data, accounts)).toEqual(asRoot(977, 978))
  await giveToServer(data)
  expect(await serverOwner(data, accounts)).toEqual(asRoot(65_534, 65_534))
  await rm(folder, { recursive: true })
})
