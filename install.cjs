// Installs node_modules before `npm run demo` and `npm test` if it is missing or older than the lock file. Otherwise it
// does nothing, so both work offline. Plain CommonJS, because it runs before anything is installed, and on Node 20. The
// npm scripts call it themselves, because `pre…` hooks do not run if `ignore-scripts` is set.
'use strict'
const { createHash } = require('node:crypto')
const { spawnSync } = require('node:child_process')
const { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } = require('node:fs')
const { join } = require('node:path')

const root = __dirname
const lockFile = join(root, 'package-lock.json')
const installedLock = join(root, 'node_modules', '.package-lock.json')
const stamp = join(root, 'node_modules', '.livehouse-installed')
const guard = join(root, '.install.tmp')
const guardOwner = join(guard, 'pid')
const POLL_MS = 200
const WAIT_MS = 10 * 60_000

const digest = () =>
  createHash('sha256').update(readFileSync(lockFile)).update(`${process.platform}-${process.arch}`).digest('hex')

const read = (file) => {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}

const modifiedAt = (file) => {
  try {
    return statSync(file).mtimeMs
  } catch {
    return 0
  }
}

/** Compares the stamp if there is one, because copied files have new times; after a plain `npm ci`, the file times. */
const isCurrent = () => {
  if (modifiedAt(installedLock) === 0) return false
  const stamped = read(stamp)
  return stamped === undefined ? modifiedAt(installedLock) >= modifiedAt(lockFile) : stamped === digest()
}

const isAlive = (pid) => {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
}

/** Returns true to the one process that may install. Removes a guard whose owner has exited, for the next attempt. */
const takeGuard = () => {
  try {
    mkdirSync(guard)
  } catch (error) {
    if (error.code !== 'EEXIST') throw error
    const owner = Number(read(guardOwner))
    const isAbandoned = owner > 0 ? !isAlive(owner) : Date.now() - modifiedAt(guard) > 5000
    if (isAbandoned) rmSync(guard, { recursive: true, force: true })
    return false
  }
  writeFileSync(guardOwner, String(process.pid))
  return true
}

const pause = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)

/** Returns false if npm fails, which then prints the reason. */
const install = () => {
  process.stderr.write('livehouse: installing dependencies (npm ci) …\n')
  const npm = process.env.npm_execpath
  const [command, args] = npm ? [process.execPath, [npm]] : ['npm', []]
  const result = spawnSync(command, [...args, 'ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: root,
    stdio: ['ignore', 2, 2],
    shell: !npm && process.platform === 'win32',
  })
  if (result.status !== 0) {
    process.stderr.write(
      `livehouse: npm ci failed (${result.error ? result.error.message : `exit ${result.status}`}). ` +
        'The first start needs the npm registry; run `npm ci` here to see all of its output.\n',
    )
    return false
  }
  writeFileSync(stamp, digest())
  return true
}

const deadline = Date.now() + WAIT_MS
while (!isCurrent()) {
  if (takeGuard()) {
    let isInstalled = false
    try {
      isInstalled = isCurrent() || install()
    } finally {
      rmSync(guard, { recursive: true, force: true })
    }
    if (!isInstalled) process.exit(1)
  } else if (Date.now() > deadline) {
    process.stderr.write(`livehouse: another installation has not ended in 10 minutes; remove ${guard} and try again\n`)
    process.exit(1)
  } else pause(POLL_MS)
}
