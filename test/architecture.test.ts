import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { endpointOf } from '../src/core/slice.ts'
import { allStreams, writtenTables } from '../src/streams/registry.ts'
import { breachesOf, type Rules } from './helpers/architecture/check.ts'
import { readSource } from './helpers/architecture/read-source.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

const belowApp = ['core', 'bi', 'transform', 'streams', 'service', 'store', 'ledger', 'sync']
const belowCli = ['core', 'bi', 'streams', ...belowApp.map((each) => `type ${each}`)]

/** Who may import whom. A new folder or package is a new line here, with a reason in its commit. */
const rules: Rules = {
  folders: {
    core: { imports: [], isPure: true },
    transform: { imports: ['core'], isPure: true },
    streams: { imports: ['core', 'transform'], isPure: true },
    service: { imports: ['core'] },
    // A migration first takes away the views that stand on the tables it changes.
    store: { imports: ['core', 'bi'] },
    // The views of livehouse_bi, declared, and in bi/publish how they get into the database.
    bi: { imports: ['core', 'streams', 'store'], isPure: true },
    ledger: { imports: ['core', 'bi', 'store'] },
    sync: { imports: ['core', 'transform', 'ledger', 'store'] },
    scheduler: { imports: [...belowApp, 'app'] },
    web: { imports: ['core', 'streams', 'ledger', 'sync', 'app', 'type store'] },
    emulator: { imports: ['core'] },
    // What app needs to know, it says itself.
    config: { imports: ['core', 'bi', 'type app'] },
    log: { imports: ['core'] },
    // What verbs, jobs and workers share: no printing.
    app: { imports: belowApp },
    // Verbs parse and print: what does the work is called in app, scheduler and web.
    cli: { imports: [...belowCli, 'app', 'scheduler', 'web', 'config', 'config.ts', 'emulator', 'log.ts'] },
    'config.ts': { imports: ['core', 'config', 'type bi', 'type app'] },
    'log.ts': { imports: ['core', 'log'] },
    'main.ts': { imports: ['core', 'cli'] },
    // It also has to load where there is nothing to import.
    'cli.ts': { imports: [] },
    'globals.d.ts': { imports: [] },
  },
  // Actions that are each one call, which no job and no worker makes: nothing would stand between.
  exceptions: {
    'src/cli/api.ts → service': 'the calls that no run makes',
    'src/cli/db.ts → store': 'the embedded server, and copies of a database',
    'src/cli/demo.ts → ledger': 'claims that database for the emulator',
    'src/cli/demo.ts → store': 'a database that is made anew',
    'src/cli/labels.ts → ledger': 'one table, read and written whole',
    'src/cli/migrate.ts → store': 'migrations',
    'src/cli/run-command-line.ts → store': 'opens databases for verbs, loaded only then',
  },
  packages: {
    '@modelcontextprotocol/server': ['app/mcp'],
    'cli-progress': ['cli/progress.ts'],
    commander: ['cli/usage.ts'],
    cronstrue: ['web/render/jobs-section.ts'],
    'csv-parse': ['config'],
    kysely: ['bi/publish', 'ledger', 'store'],
    'node-cron': ['scheduler'],
    'p-queue': ['app/mcp', 'service', 'sync'],
    pg: ['store'],
    'pg-boss': ['scheduler'],
    'pg-copy-streams': ['store'],
    pino: ['log.ts'],
    'prom-client': ['web'],
    'string-width': ['cli'],
    undici: ['service/http.ts'],
    zod: ['app/mcp', 'scheduler', 'service/other-calls.ts'],
    'type kysely': ['sync'],
    'type undici': ['service'],
  },
  pureModules: {
    'node:assert/strict': ['src/'],
    'node:crypto': ['src/bi/publish/'],
    'node:module': ['src/core/program-files.ts'],
    'node:net': ['src/transform/read-item.ts'],
    'node:path': ['src/core/program-files.ts'],
    'node:timers/promises': ['src/core/clock.ts'],
  },
  habits: {
    'process.env': ['src/config.ts', 'test/'],
    time: ['src/core/clock.ts', 'test/'],
    'default export': ['jobs/'],
    're-export': [],
    // Migrations and jobs are found by the folder that they are in.
    'computed import': ['src/store/migrate.ts', 'src/scheduler/load-jobs.ts'],
    // It shows every database of the server: others, also tests at work beside this one, have locks of the same number.
    pg_locks: ['src/store/migration-lock.ts', 'test/helpers/own-locks.ts'],
  },
  streams: {
    names: [
      ...new Set([
        ...allStreams.flatMap((stream) => [stream.name, endpointOf(stream)]),
        ...writtenTables.map(({ table }) => table),
      ]),
    ],
    allowed: ['src/streams', 'src/emulator', 'src/bi/views'],
    leaks: {
      // Help texts: examples, and what a verb does with a stream that users know by its name.
      'src/cli/accept.ts': 'help',
      'src/cli/audit.ts': 'help',
      'src/cli/db.ts': 'an example in its help',
      'src/cli/forms.ts': 'what to run where a questionnaire is not known yet',
      'src/cli/ledger.ts': 'an example in its help',
      // What is made for one stream: it would go with the stream.
      'src/bi/publish/publish-forms.ts': 'views of questionnaires',
      'src/app/read-records.ts': 'a channel of which nothing was counted',
      'src/cli/channels.ts': 'columns and JSON that count visitors and watch records',
      'src/ledger/channels.ts': 'what the table of channels counts',
      'src/ledger/gift-labels.ts': 'labels of gifts',
      'src/ledger/table-sizes.ts': 'hours watched by day',
      'src/ledger/questionnaires.ts': 'the questions that signups are partitioned by',
      'src/store/tables/operation-tables.ts': 'the columns of questionnaires that the ledger reads',
    },
  },
  maxLines: 250,
  maxColumns: 120,
  testsOfTheTree: [
    'test/helpers/',
    'test/e2e/',
    'test/architecture.test.ts',
    'test/install.test.ts',
    'test/deployments.test.ts',
    'test/readme.test.ts',
    'test/streams.conformance.test.ts',
  ],
}

/** Lines of TypeScript that a folder of `src` may have: who adds some takes others away, or raises its line in a commit that says why. A stream brings its own. */
const budgets: Readonly<Record<string, number>> = {
  app: 1670,
  bi: 3985,
  cli: 4258,
  config: 579,
  core: 1237,
  emulator: 1757 + 60 * allStreams.length,
  ledger: 3586,
  log: 73,
  scheduler: 1288,
  service: 1720,
  store: 2952,
  streams: 93 + 68 * allStreams.length,
  sync: 5204,
  transform: 249,
  web: 3090,
  // The files beside the folders.
  '': 364,
}
/** SQL that is written as such, beside the load path and the views for analysts: each place says why. */
const MOST_RAW_SQL = 56

/** Less than the folders may have together: they do not all grow at once. */
const MOST_LINES = { src: 32_094 + 128 * allStreams.length, test: 26_290 }

const tree = ['src', 'migrations', 'jobs', 'test'].flatMap((folder) =>
  filesOf(folder).map((path) => readSource(path, readFileSync(join(root, path), 'utf8'))),
)

function filesOf(folder: string): string[] {
  const isThere = readdirSync(root).includes(folder)
  const entries = isThere ? readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }) : []
  return entries.filter((entry) => entry.endsWith('.ts')).map((entry) => `${folder}/${entry.replaceAll('\\', '/')}`)
}

test('the tree keeps the rules', () => {
  expect(tree.length).toBeGreaterThan(50)
  expect(breachesOf(tree, rules)).toEqual([])
})

test('folders keep to their lines', () => {
  const lines = new Map<string, number>()
  for (const { path, lines: count } of tree) {
    const [top = '', folder = '', file] = path.split('/')
    const names = top === 'src' ? [top, `src/${file === undefined ? '' : folder}`] : [top]
    for (const name of names) lines.set(name, (lines.get(name) ?? 0) + count)
  }
  const most = {
    ...MOST_LINES,
    ...Object.fromEntries(Object.entries(budgets).map(([name, each]) => [`src/${name}`, each])),
  }
  const over = Object.entries(most).filter(([name, each]) => (lines.get(name) ?? 0) > each)
  expect(over.map(([name, each]) => `${name} has ${lines.get(name)} lines, more than ${each}`)).toEqual([])
  expect(new Set(Object.keys(budgets))).toEqual(
    new Set([...lines.keys()].flatMap((name) => (name.startsWith('src/') ? [name.slice(4)] : []))),
  )
})

test('SQL is written with the builder, and takes no lock that any login of the database may hold', () => {
  const written = filesOf('src').filter((path) => !/^src\/(bi|store\/load)\//.test(path))
  const text = written.map((path) => readFileSync(join(root, path), 'utf8')).join('\n')
  expect(text.match(/(?<!migrate )\bsql(<[^`]*?>)?`|\bsql\.raw[<(]/g)?.length).toBeLessThanOrEqual(MOST_RAW_SQL)
  expect(text).not.toMatch(/pg_(try_)?advisory/)
})

describe('every rule finds its breach', () => {
  test.each([
    ['src/core/a.ts', "import { b } from '../service/b.ts'", 'may not import src/service/b.ts'],
    ['src/core/a.ts', "import { readFileSync } from 'node:fs'", 'may not import node:fs'],
    ['src/core/a.ts', "import { z } from 'zod'", 'may not import zod'],
    ['src/service/a.ts', "const b = await import('../store/b.ts')", 'may not import src/store/b.ts'],
    ['src/service/a.ts', "import { request } from 'undici'", 'may not import undici'],
    ['src/sync/a.ts', "import { sql } from 'kysely'", 'may not import kysely'],
    ['src/app/a.ts', "import { b } from '../scheduler/b.ts'", 'may not import src/scheduler/b.ts'],
    ['src/cli/a.ts', "import { main } from '../main.ts'", 'may not import src/main.ts'],
    ['src/cli/a.ts', "import { b } from '../ledger/b.ts'", 'may not import src/ledger/b.ts'],
    ['src/cli/labels.ts', '', 'needs no exception: take src/cli/labels.ts → ledger off the list'],
    ['src/cli/a.ts', "import { a } from 'left-pad'", 'may not import left-pad'],
    ['src/cli/a.ts', 'const a = await import(name)', 'has a computed import'],
    ['src/queue/a.ts', "import '../core/b.ts'", 'is in queue, which the table of folders does not know'],
    ['migrations/0001-a.ts', "import { b } from '../src/core/b.ts'", 'may not import src/core/b.ts'],
    ['jobs/nightly.ts', "import { b } from '../src/core/b.ts'", 'may not import src/core/b.ts'],
    ['src/service/a.ts', 'export default 1', 'has a default export'],
    ['src/service/a.ts', "export * from './b.ts'", 'has a re-export'],
    ['src/service/index.ts', '', 'is a barrel: no index.ts'],
    ['src/service/myFile.ts', '', 'is not named in kebab-case'],
    ['src/main.ts', 'const a = process.env.A', 'has a process.env'],
    ['src/main.ts', "import { env } from 'node:process'", 'has a process.env'],
    ['src/service/a.ts', 'const a = Date.now()', 'has a time'],
    ['src/service/a.ts', 'const a = new Date()', 'has a time'],
    ['src/service/a.ts', 'const a = performance.now()', 'has a time'],
    ['src/service/a.ts', 'setTimeout(f, 1)', 'has a time'],
    ['src/service/a.ts', "import { setTimeout } from 'node:timers/promises'", 'has a time'],
    ['test/e2e/a.test.ts', 'sql`select from pg_locks`', 'has a pg_locks'],
    ['src/service/a.ts', "const a = 'visitorList'", 'names a stream: visitorList'],
    ['src/service/a.ts', 'const a = `from livehouse.gifts`', 'names a stream: gifts'],
    ['src/cli/ledger.ts', "const a = 'the gifts'", 'names no stream: take it off the list of leaks'],
    ['src/service/a.ts', 'const a = 1\n'.repeat(251), 'has 251 lines, more than 250'],
    ['src/service/a.ts', `// ${'a'.repeat(118)}`, 'has a line of 121 columns, more than 120'],
    ['test/service/a.test.ts', '', 'tests no file: there is no src/service/a.ts'],
  ])('%s: %.60s', (path, text, breach) => {
    expect(breachesOf([readSource(path, text)], rules)).toEqual([`${path} ${breach}`])
  })

  test('a cycle, also one of types and of dynamic imports', () => {
    const files = [
      readSource('src/service/a.ts', "import type { B } from './b.ts'"),
      readSource('src/service/b.ts', "const c = await import('./c.ts')"),
      readSource('src/service/c.ts', "import { a } from './a.ts'"),
      readSource('src/service/d.ts', "import { a } from './a.ts'"),
    ]
    expect(breachesOf(files, rules)).toEqual([
      'src/service/a.ts → src/service/b.ts → src/service/c.ts → src/service/a.ts is a cycle',
    ])
  })
})
