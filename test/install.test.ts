import { spawn } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { createTemporaryFolder } from './helpers/temporary-folder.ts'

/** Replaces npm: records its arguments and writes what `npm ci` leaves, slowly enough for two to overlap. */
const fakeNpm = `
const fs = require('node:fs')
fs.appendFileSync('npm-calls.tmp', process.argv.slice(2).join(' ') + '\\n')
if (fs.existsSync('fail.tmp')) process.exit(7)
Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300)
fs.rmSync('node_modules', { recursive: true, force: true })
fs.mkdirSync('node_modules')
fs.writeFileSync('node_modules/.package-lock.json', '{}')
`

/** A project folder with a lock file and nothing installed. */
function createProject() {
  const root = createTemporaryFolder('install')
  copyFileSync(fileURLToPath(new URL('../install.cjs', import.meta.url)), join(root, 'install.cjs'))
  writeFileSync(join(root, 'package-lock.json'), '{"lockfileVersion": 3}')
  writeFileSync(join(root, 'npm.cjs'), fakeNpm)
  const calls = (): string[] => {
    const notes = join(root, 'npm-calls.tmp')
    return existsSync(notes) ? readFileSync(notes, 'utf8').trim().split('\n') : []
  }
  const install = async () => {
    const env = { ...process.env, npm_execpath: join(root, 'npm.cjs') }
    const child = spawn(process.execPath, ['install.cjs'], { cwd: root, env, stdio: ['ignore', 'ignore', 'pipe'] })
    const ended = new Promise<number | null>((resolve) => child.on('close', resolve))
    return { err: await text(child.stderr), code: await ended }
  }
  return { root, calls, install, guard: join(root, '.install.tmp') }
}

test('dependencies are installed once, and again only if the contents of the lock file change', async () => {
  const { root, calls, install, guard } = createProject()
  expect(await install()).toMatchObject({ code: 0, err: expect.stringContaining('installing dependencies') })
  expect(calls()).toEqual(['ci --no-audit --no-fund --loglevel=error'])
  const later = new Date(2100, 0, 1)
  utimesSync(join(root, 'package-lock.json'), later, later)
  expect(await install()).toEqual({ code: 0, err: '' })
  expect(calls()).toHaveLength(1)
  expect(existsSync(guard)).toBe(false)
  writeFileSync(join(root, 'package-lock.json'), '{"lockfileVersion": 3, "packages": {}}')
  await install()
  expect(calls()).toHaveLength(2)
})

test('concurrent installs run npm ci once', async () => {
  const { calls, install } = createProject()
  expect((await Promise.all([install(), install(), install()])).map(({ code }) => code)).toEqual([0, 0, 0])
  expect(calls()).toHaveLength(1)
})

test('the guard of a process that is gone is taken over', async () => {
  const { calls, install, guard } = createProject()
  const deadProcess = spawn(process.execPath, ['--version'], { stdio: 'ignore' })
  await new Promise((resolve) => deadProcess.on('close', resolve))
  mkdirSync(guard)
  writeFileSync(join(guard, 'pid'), String(deadProcess.pid))
  expect(await install()).toMatchObject({ code: 0 })
  expect(calls()).toHaveLength(1)
})

test('a failed npm ci is reported, leaves no guard and is repeated the next time', async () => {
  const { root, calls, install, guard } = createProject()
  writeFileSync(join(root, 'fail.tmp'), '')
  expect(await install()).toEqual({ code: 1, err: expect.stringContaining('npm ci failed (exit 7)') })
  expect(existsSync(guard)).toBe(false)
  rmSync(join(root, 'fail.tmp'))
  expect(await install()).toMatchObject({ code: 0 })
  expect(calls()).toHaveLength(2)
})
