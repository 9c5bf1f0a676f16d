import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { api } from '../../src/cli/api.ts'
import { doctor } from '../../src/cli/doctor.ts'
import { startEmulator } from '../../src/emulator/server.ts'
import { claimSource } from '../../src/ledger/source.ts'
import { ofFile } from '../helpers/of-file.ts'
import { createTestDatabase } from '../helpers/postgres.ts'
import { credentialsOf, runVerb } from '../helpers/run-verb.ts'
import { createTemporaryFolder } from '../helpers/temporary-folder.ts'

const emulator = ofFile(() => startEmulator({ channels: 1, viewers: 5, days: 1, switches: { newTokenEndsOld: true } }))
const database = ofFile(createTestDatabase)

const ticket = () => {
  const [channel] = emulator.world.channels.values()
  const flags = ['--scope', 'guest', '--outerid', 'u1', '--client-ip', '203.0.113.7', '--username', 'u']
  return ['ticket', ...flags, '--hash-act-id', channel?.hashId ?? '']
}

/** Asks for a ticket. @returns how many tokens were fetched, and the remarks */
async function askForTicket(settings: Readonly<Record<string, string>>) {
  const before = countTokens()
  const environment = { ...credentialsOf(emulator), ...settings }
  const { code, remarks, error } = await runVerb(api, ticket(), { environment })
  expect({ code, error }).toEqual({ code: 0, error: undefined })
  return { fetched: countTokens() - before, remarks: remarks.join('\n') }
}

const countTokens = () => emulator.calls.filter(({ endpoint }) => endpoint === 'token').length

test('with a database, successive processes use the same token, also after doctor has requested one', async () => {
  const settings = { DATABASE_URL: database.url }
  const first = await askForTicket(settings)
  expect(first.fetched).toBe(1)
  expect(first.remarks).toContain(`database: 127.0.0.1`)
  expect((await askForTicket(settings)).fetched).toBe(0)
  expect((await runVerb(doctor, [], { environment: { ...credentialsOf(emulator), ...settings } })).code).toBe(0)
  expect((await askForTicket(settings)).fetched).toBe(0)
})

test('without a database, or if it has no schema or is not running, each process fetches its own token', async () => {
  await using empty = await createTestDatabase({ isMigrated: false })
  const dataDir = join(createTemporaryFolder('shared'), 'data')
  for (const settings of [{}, { DATABASE_URL: empty.url }, { DATABASE_URL: 'embedded', LIVEHOUSE_DATA_DIR: dataDir }]) {
    expect((await askForTicket(settings)).fetched).toBe(1)
    expect((await askForTicket(settings)).fetched).toBe(1)
  }
  expect(existsSync(dataDir)).toBe(false)
})

test('an unreachable database is reported without its password, and does not stop a verb that needs none', async () => {
  const { fetched, remarks } = await askForTicket({ DATABASE_URL: 'postgres://nobody:hush@127.0.0.1:1/none' })
  expect(fetched).toBe(1)
  expect(remarks).toContain('the token is not shared with other processes: Database 127.0.0.1:1')
  expect(remarks).not.toContain('hush')
  const noFolder = { DATABASE_URL: 'embedded', LIVEHOUSE_DATA_DIR: import.meta.filename }
  expect((await askForTicket(noFolder)).remarks).toContain('with other processes: The embedded PostgreSQL in')
})

test('no token is stored in the database of another source', async () => {
  await using other = await createTestDatabase()
  await claimSource(other.db, { baseUrl: 'https://other.example', appId: 'other', timeZone: 'Asia/Shanghai' })
  expect((await askForTicket({ DATABASE_URL: other.url })).remarks).toContain('the records of another source')
  expect(await other.db.selectFrom('livehouse_ops.access_tokens').selectAll().execute()).toEqual([])
})
