// Packs livehouse, installs the package into an empty folder and uses it there as users do: with Node 24 and, if this
// machine has one, an older Node; as the current user and, if that is root, as another one too. Needs no network if npm
// has the dependencies in its cache. Exits with 1 at the first failure.
import { strict as assert } from 'node:assert'
import { type SpawnOptions, spawn, spawnSync } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import manifest from '../package.json' with { type: 'json' }
import lock from '../package-lock.json' with { type: 'json' }
import { run } from './run.mts'
import { tryImage } from './try-image.mts'
import { writeRelease } from './write-release.mts'

const MOST_FILES = 300
const MOST_BYTES = 2_000_000
/** The user that root switches to: `nobody` on most systems. */
const OTHER_USER = 65_534

const root = join(import.meta.dirname, '..')
const place = mkdtempSync(join(tmpdir(), 'livehouse-package-'))
chmodSync(place, 0o755)
/** The folder in which npx keeps a package. */
const folder = join(place, '_npx', 'package')
mkdirSync(folder, { recursive: true })
try {
  const tarball = pack()
  install(tarball)
  checkTypes()
  checkImports()
  for (const node of [process.execPath, ...findOldNodes()]) {
    await use(node, process.getuid?.())
    if (process.getuid?.() === 0) await use(node, OTHER_USER)
  }
  tryImage(join(folder, 'node_modules'), place)
} finally {
  rmSync(place, { recursive: true, force: true })
}

function pack(): string {
  const { filename, size, files } = writeRelease(folder)
  process.stdout.write(`packed: ${files.length} files, ${size} bytes\n`)
  assert(files.length <= MOST_FILES, `${files.length} files, more than ${MOST_FILES}`)
  assert(size <= MOST_BYTES, `${size} bytes, more than ${MOST_BYTES}`)
  const context: readonly string[] = readFileSync(join(root, '.dockerignore'), 'utf8').match(/(?<=^!).+$/gm) ?? []
  const excluded = manifest.files.filter((path) => path !== 'dist' && !context.includes(path.replace(/\/.*/, '')))
  assert.deepEqual(excluded, [], '.dockerignore excludes files of the package from the image')
  const sources = files.filter(({ path }) => /(?<!\.d)\.ts$/.test(path) && !path.startsWith('jobs/'))
  assert.deepEqual(sources, [], 'Node strips no types below node_modules')
  return join(folder, filename)
}

/** Installs with a lock file of the checkout's versions, so that npm does not have to ask the registry. */
function install(tarball: string): void {
  const { dependencies, optionalDependencies, bin } = manifest
  const resolved = `file:${tarball}`
  const own = { version: manifest.version, resolved, dependencies, optionalDependencies, bin }
  const others = Object.entries(lock.packages).filter(([path, entry]) => path !== '' && !('dev' in entry))
  const packages = {
    '': { dependencies: { livehouse: resolved } },
    'node_modules/livehouse': own,
    ...Object.fromEntries(others),
  }
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ dependencies: { livehouse: resolved } }))
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify({ lockfileVersion: 3, requires: true, packages }))
  run('npm', ['ci', '--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: folder })
}

/** Checks that a user's job file gets types. */
function checkTypes(): void {
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  const file = join(folder, 'typed.mts')
  const options = ['--ignoreConfig', '--noEmit', '--strict', '--module', 'nodenext', '--types', '']
  const check = (job: string) => {
    writeFileSync(file, `import { defineJob } from 'livehouse'\nexport default defineJob(${job})\n`)
    return spawnSync(process.execPath, [compiler, ...options, file], { cwd: folder, encoding: 'utf8' })
  }
  const right = check(`{ cron: '0 3 * * *', streams: ['gifts'] }`)
  assert.equal(right.status, 0, right.stdout)
  assert.match(check(`{ cron: 3 }`).stdout, /Type 'number' is not assignable to type 'string'/)
}

/** Checks that every file of the program loads: each is where it is imported from, and no dependency is missing. */
function checkImports(): void {
  const program = join(folder, 'node_modules', 'livehouse', 'dist')
  const files = readdirSync(program, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.mjs'))
  const code = `for (const file of process.argv.slice(1)) await import(file)`
  const urls = files.map((file) => pathToFileURL(join(program, file)).href)
  run(process.execPath, ['--input-type=module', '--eval', code, ...urls], { cwd: folder })
}

/** Does what a new user does: version, help, demo, a sync from the emulator with settings in `.env`, jobs, serve. */
async function use(node: string, uid: number | undefined): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), 'livehouse-user-'))
  const env = {
    PATH: [dirname(node), ...(process.env.PATH ?? '').split(delimiter)].join(delimiter),
    HOME: home,
    TMPDIR: home,
    LIVEHOUSE_HTTP: '127.0.0.1:0',
  }
  if (uid !== undefined) chownSync(home, uid, uid)
  const options = { cwd: home, env, ...(uid === undefined ? {} : { uid, gid: uid }) }
  const bin = join(folder, 'node_modules', '.bin', 'livehouse')
  const livehouse = (...args: string[]) => run(node, [bin, ...args], options)
  const start = (verb: string) => startChild(node, [bin, verb], options)
  const version = run(node, ['--version'], options).trim()
  process.stdout.write(`with Node ${version} as uid ${uid ?? '-'}\n`)

  assert(livehouse('--version').startsWith(`${manifest.version} (Node `))
  assert.match(livehouse('--help'), /livehouse <command>/)
  try {
    const demo = livehouse('demo')
    assert.match(demo, /livehouse\.visitors +[\d,]+ +[\d,]+ +✓/)
    assert.doesNotMatch(demo, /✗/)
    const [, call = ''] = /(\S+) db stop/.exec(demo) ?? []
    assert.equal(run(call, ['--version'], options), livehouse('--version'), 'the demo names another program')

    await using emulator = start('emulate')
    const output = await emulator.waitForOutput(/^DATABASE_URL=embedded$/m)
    writeFileSync(join(home, '.env'), (output.match(/^[A-Z_]+=.*\n/gm) ?? []).join(''), { mode: 0o600 })
    if (uid !== undefined) chownSync(join(home, '.env'), uid, uid)
    assert.equal(JSON.parse(livehouse('sync', '--json')).status, 'ok')
    // With empty input, mcp checks that it can read the views as an analyst, and exits.
    assert.equal(livehouse('mcp'), '')
    // An empty folder of that name does not hide the package's jobs.
    mkdirSync(join(home, 'jobs'))
    assert.match(livehouse('jobs'), /nightly/, 'the package does not include its job')
    const typed = `import { defineJob } from 'livehouse'\nconst cron: string = '0 3 * * *'\nexport default defineJob({ cron })\n`
    writeFileSync(join(home, 'jobs', 'typed.ts'), typed)
    writeFileSync(join(home, 'jobs', 'plain.js'), `export default { cron: '0 4 * * *', streams: ['gifts'] }\n`)
    assert.match(livehouse('jobs'), /plain[^]*typed/)
    assert.equal(JSON.parse(livehouse('run', 'typed', '--json')).status, 'ok')

    await using serve = start('serve')
    const [page] = /http:\/\/127\.0\.0\.1:\d+/.exec(await serve.waitForOutput(/http:\/\/127\.0\.0\.1:\d+/)) ?? []
    assert.equal((await fetch(`${page}/healthz`)).status, 200)
    const [, style] = /<link rel="stylesheet" href="([^"]+)"/.exec(await (await fetch(page ?? '')).text()) ?? []
    assert.equal((await fetch(`${page}${style}`)).status, 200)
  } finally {
    livehouse('db', 'stop')
    rmSync(home, { recursive: true, force: true })
  }
}

/** A process that runs until it is disposed of. */
function startChild(node: string, args: readonly string[], options: SpawnOptions) {
  const child = spawn(node, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
  const output = { text: '' }
  const events = new EventEmitter()
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output.text += text
      events.emit('text')
    })
  }
  child.on('exit', () => events.emit('text'))
  return {
    /** Waits until its output matches, and returns it. @throws if it exits first */
    waitForOutput: async (pattern: RegExp): Promise<string> => {
      while (!pattern.test(output.text)) {
        assert.equal(child.exitCode, null, output.text)
        await once(events, 'text')
      }
      return output.text
    },
    [Symbol.asyncDispose]: async (): Promise<void> => {
      if (child.exitCode !== null) return
      child.kill()
      await once(child, 'exit')
    },
  }
}

function findOldNodes(): readonly string[] {
  const candidates = (process.env.PATH ?? '').split(delimiter).map((each) => join(each, 'node'))
  const majorOf = (node: string) =>
    Number(/^v(\d+)/.exec(spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout ?? '')?.[1] ?? 'NaN')
  return candidates.filter((node) => majorOf(node) >= 20 && majorOf(node) < 24).slice(0, 1)
}
