import { spawnSync } from 'node:child_process'
import { chownSync, copyFileSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import manifest from '../package.json' with { type: 'json' }
import { createTemporaryFolder } from './helpers/temporary-folder.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const launcher = join(root, 'src', 'cli.ts')
const plainFiles = ['src/cli.ts', 'bin/livehouse.cjs']
const oldNode = findOldNode()
const version = expect.stringMatching(`^${manifest.version} \\(Node 24\\.\\S+, \\S+\\)\n$`)
const versionOutput = { status: 0, stdout: version, stderr: '' }

/** A Node of this machine that is too old to run the program itself, if there is one. */
function findOldNode(): string | undefined {
  const candidates = (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, 'node'))
  return candidates.find((node) => {
    const { stdout } = spawnSync(node, ['--version'], { encoding: 'utf8' })
    const major = Number(/^v(\d+)/.exec(stdout ?? '')?.[1] ?? 'NaN')
    return major >= 20 && major < 24
  })
}

function createBareCheckout() {
  const folder = createTemporaryFolder('launcher')
  mkdirSync(join(folder, 'src'))
  mkdirSync(join(folder, 'bin'))
  mkdirSync(join(folder, 'node_modules'))
  for (const file of plainFiles) copyFileSync(join(root, file), join(folder, file))
  writeFileSync(join(folder, 'package.json'), '{"name": "livehouse"}')
  return folder
}

function run(node: string, ...args: string[]) {
  const { status, stdout, stderr } = spawnSync(node, args, { encoding: 'utf8' })
  return { status, stdout, stderr }
}

test('without its dependencies the launcher says what to do', () => {
  const folder = createBareCheckout()
  const { status, stdout, stderr } = run(process.execPath, join(folder, 'src', 'cli.ts'), '--version')
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
  const message = `its dependencies are not installed. Run \`npm ci\` in ${folder}, then try again.\n`
  expect(stderr).toBe(`livehouse cannot start: ${message}`)
})

test.each(plainFiles)('%s is valid for a Node that does not know TypeScript', (file) => {
  const copy = join(createBareCheckout(), 'launcher.cjs')
  copyFileSync(join(root, file), copy)
  expect(spawnSync(process.execPath, ['--check', copy], { encoding: 'utf8' })).toMatchObject({ status: 0, stderr: '' })
})

test('a start keeps the code that it compiles in a folder of the checkout', () => {
  const env = { ...process.env, NODE_DEBUG_NATIVE: 'COMPILE_CACHE', NODE_COMPILE_CACHE: undefined }
  const started = spawnSync(process.execPath, [launcher, '--version'], { encoding: 'utf8', env })
  const cache = join(root, 'node_modules', '.cache', 'livehouse')
  expect(started).toMatchObject({ ...versionOutput, stderr: expect.stringContaining(`resolved path ${cache}`) })
})

test('a start that finds everything compiled does not load the type stripper', () => {
  const probe = join(createTemporaryFolder('launcher-probe'), 'probe.cjs')
  const text = "process.on('exit', () => console.log(process.moduleLoadList.filter((name) => /amaro/.test(name))))"
  writeFileSync(probe, text)
  const env = { ...process.env, NODE_OPTIONS: `--require ${probe}`, NODE_COMPILE_CACHE: undefined }
  const start = () => spawnSync(process.execPath, [launcher, 'no such verb'], { encoding: 'utf8', env })
  start()
  expect(start()).toMatchObject({ status: 2, stdout: '[]\n' })
})

test('on Windows, which has no execve, the launcher starts a second process', () => {
  const windows = join(createTemporaryFolder('launcher-windows'), 'windows.cjs')
  const text = `Object.defineProperty(process, 'platform', { value: 'win32' })
    process.execve = () => { throw new Error('unavailable on this platform') }`
  writeFileSync(windows, text)
  expect(run(process.execPath, '--require', windows, launcher, '--version')).toEqual(versionOutput)
})

test('job files of the working folder load with any ending, also by a link, but root runs none of others', () => {
  const jobs = join(createTemporaryFolder('own-jobs'), 'jobs')
  const run = (env = {}, name = 'none') =>
    spawnSync(process.execPath, [launcher, 'run', name], { cwd: dirname(jobs), env, encoding: 'utf8' }).stderr
  writeFileSync(jobs, 'no folder')
  expect(run()).toContain(`there is no job "none" in ${join(root, 'jobs')}`)
  rmSync(jobs)
  mkdirSync(jobs)
  writeFileSync(join(jobs, 'nightly.mts'), "console.log('it runs')")
  expect(run()).toContain(`there is no job "none" in ${jobs}`)
  writeFileSync(join(jobs, '..', 'package.json'), '{"type": "commonjs"}')
  writeFileSync(join(jobs, 'weekly.ts'), "import { defineJob } from 'livehouse'\nexport default defineJob({})")
  symlinkSync(jobs, join(jobs, '..', 'link'))
  expect(run({ LIVEHOUSE_JOBS_DIR: join(jobs, '..', 'link') }, 'weekly')).toContain('weekly.ts: cron is missing')
  if (process.getuid?.() !== 0) return
  chownSync(jobs, 65_534, 65_534)
  expect(run()).toContain(`${jobs} belongs to another user`)
  expect(run({ LIVEHOUSE_JOBS_DIR: 'jobs' })).not.toContain('belongs to another user')
})

describe.runIf(oldNode !== undefined)('an old Node', () => {
  const node = oldNode ?? ''

  test('hands its arguments to the pinned Node, and passes on the exit code', () => {
    expect(run(node, launcher, '--version')).toEqual(versionOutput)
    const stderr = expect.stringContaining('there is no command "no such verb"')
    expect(run(node, launcher, 'no such verb')).toMatchObject({ status: 2, stderr })
  })

  test('says what to do if the pinned Node is missing, does not start, or is all that is installed', () => {
    const folder = createBareCheckout()
    const start = () => run(node, join(folder, 'src', 'cli.ts'), '--version')
    const missing = /^livehouse cannot start: it needs Node 24 or newer, this is v\d+\.\d+\.\d+\. Run `npm ci` in /
    expect(start()).toEqual({ status: 2, stdout: '', stderr: expect.stringMatching(missing) })
    const pinned = join(folder, 'node_modules', `node-${process.platform}-${process.arch}`)
    mkdirSync(pinned)
    writeFileSync(join(pinned, 'package.json'), '{}')
    const broken = `livehouse cannot start: spawn ${join(pinned, 'bin', 'node')} ENOENT. Install Node 24 or newer.\n`
    expect(start()).toEqual({ status: 2, stdout: '', stderr: broken })
    rmSync(pinned, { recursive: true })
    for (const name of readdirSync(join(root, 'node_modules')).filter((name) => name.startsWith('node-')))
      symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name))
    const message = expect.stringContaining('its dependencies are not installed')
    expect(start()).toMatchObject({ status: 2, stderr: message })
  })
})
