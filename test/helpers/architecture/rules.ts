import { endpointOf } from '../../../src/core/slice.ts'
import { allStreams, writtenTables } from '../../../src/streams/registry.ts'
import type { Habit } from './read-source.ts'

type Table<Key extends string = string> = Readonly<Record<Key, readonly string[]>>

const belowApp = ['core', 'bi', 'transform', 'streams', 'service', 'store', 'ledger', 'sync']
const belowCli = ['core', 'bi', 'streams', ...belowApp.map((each) => `type ${each}`)]

/** Which others a folder, or a file of the root, may import; `type store` where types only. A new one needs a reason. */
export const folders: Table = {
  core: [],
  transform: ['core'],
  streams: ['core', 'transform'],
  service: ['core'],
  // A migration first takes away the views that stand on the tables it changes.
  store: ['core', 'bi'],
  // The views of livehouse_bi, declared, and in bi/publish how they get into the database.
  bi: ['core', 'streams', 'store'],
  ledger: ['core', 'bi', 'store'],
  sync: ['core', 'transform', 'ledger', 'store'],
  scheduler: [...belowApp, 'app'],
  web: ['core', 'streams', 'ledger', 'sync', 'app', 'type store'],
  emulator: ['core'],
  // What app needs to know, it says itself.
  config: ['core', 'bi', 'type app'],
  log: ['core'],
  // What verbs, jobs and workers share: no printing.
  app: belowApp,
  // Verbs parse and print: what does the work is called in app, scheduler and web.
  cli: [...belowCli, 'app', 'scheduler', 'web', 'config', 'config.ts', 'emulator', 'log.ts'],
  'config.ts': ['core', 'config', 'type bi', 'type app'],
  'log.ts': ['core', 'log'],
  'main.ts': ['core', 'cli'],
  // It also has to load where there is nothing to import.
  'cli.ts': [],
  'globals.d.ts': [],
}

/** Folders without input and output, but for what is in `pureModules`. */
export const pureFolders = ['core', 'transform', 'streams', 'bi']

/** What one file may import beyond its folder: actions of one call, which no job and no worker makes. */
export const exceptions: Readonly<Record<string, string>> = {
  'src/cli/api.ts → service': 'the calls that no run makes',
  'src/cli/db.ts → store': 'the embedded server, and copies of a database',
  'src/cli/demo.ts → store': 'a database that is made anew',
  'src/cli/labels.ts → ledger': 'one table, read and written whole',
  'src/cli/migrate.ts → store': 'migrations',
  'src/cli/run-command-line.ts → store': 'opens databases for verbs, loaded only then',
}

/** By package, or `type` and a package where it is for types only: the folders or files of `src` that may import it. */
export const packages: Table = {
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
}

/** Node's modules that pure folders may use, with the paths that may. */
export const pureModules: Table = {
  'node:assert/strict': ['src/'],
  'node:crypto': ['src/bi/publish/'],
  'node:module': ['src/core/program-files.ts'],
  'node:net': ['src/transform/read-item.ts'],
  'node:path': ['src/core/program-files.ts'],
  'node:timers/promises': ['src/core/clock.ts'],
}

/** Paths that may have a habit. */
export const habits: Table<Habit> = {
  'process.env': ['src/config.ts', 'test/'],
  time: ['src/core/clock.ts', 'test/'],
  're-export': [],
  // Migrations and jobs are found by the folder that they are in.
  'computed import': ['src/store/migrate.ts', 'src/scheduler/load-jobs.ts'],
  // It shows every database of the server: others, also tests at work beside this one, have locks of the same number.
  pg_locks: ['src/store/migration-lock.ts', 'test/helpers/own-locks.ts'],
}

/** Names of streams, their tables and endpoints. */
export const streamNames = [
  ...new Set([
    ...allStreams.flatMap((each) => [each.name, endpointOf(each)]),
    ...writtenTables.map(({ table }) => table),
  ]),
]
export const streamPaths = ['src/streams', 'src/emulator', 'src/bi/views']
/** Those that other files may have. */
export const leaks: Table = {
  // Help texts: examples, and what a verb does with a stream that users know by its name.
  'src/cli/accept.ts': ['manager_usage'],
  'src/cli/audit.ts': ['watch_records'],
  'src/cli/db.ts': ['visitors'],
  'src/cli/forms.ts': ['signups'],
  'src/cli/ledger.ts': ['watch_records'],
  // What is made for one stream: it would go with the stream.
  'src/bi/publish/publish-forms.ts': ['questionnaires', 'signups'],
  'src/app/read-records.ts': ['visitors'],
  'src/cli/channels.ts': ['visitors'],
  'src/ledger/channels.ts': ['visitors', 'watch_records'],
  'src/ledger/gift-labels.ts': ['gifts'],
  'src/ledger/table-sizes.ts': ['watch_records'],
  'src/ledger/questionnaires.ts': ['questionnaires'],
  'src/store/tables/operation-tables.ts': ['questionnaires'],
}

/** By file, or folder that ends with a slash: the tables of `livehouse_ops` whose SQL stands there and nowhere else. */
export const owners: Table = {
  'src/ledger/alerts.ts': ['alerts'],
  'src/ledger/backfills.ts': ['backfills'],
  'src/ledger/call-budget.ts': ['call_budget'],
  'src/ledger/channels.ts': ['channel_states'],
  'src/ledger/gift-labels.ts': ['gift_labels'],
  'src/ledger/jobs.ts': ['jobs', 'job_runs'],
  'src/ledger/leases/': ['leases'],
  'src/ledger/open-slices.ts': ['open_slices'],
  'src/ledger/quarantine/': ['quarantine'],
  'src/ledger/questionnaires.ts': ['headers', 'unlisted_questionnaires', 'published_forms', 'cleared_questions'],
  'src/ledger/runs/': ['runs'],
  'src/ledger/shared-pace.ts': ['call_paces'],
  'src/ledger/shared-token-store.ts': ['access_tokens'],
  'src/ledger/slices/': ['slices'],
  'src/ledger/slices/acceptances.ts': ['acceptances', 'acceptance_uses'],
  'src/ledger/slices/compact-slices.ts': ['partition_states'],
  'src/ledger/slices/earlier-readings.ts': ['known_fields'],
  'src/ledger/slices/forget-coverage.ts': ['reopened_ranges'],
  'src/ledger/source.ts': ['source', 'source_facts'],
  'src/ledger/unknown-fields.ts': ['unknown_fields'],
  'src/store/load/table-part.ts': ['missed_rows'],
  'src/store/lock-name.ts': ['locks'],
  'src/store/': ['migrations'],
}

/** What may name tables of others: all of them, or these. */
export const otherReaders: Readonly<Record<string, readonly string[] | 'all'>> = {
  // Their columns as types, for the builder.
  'src/store/tables/': 'all',
  // What analysts see of them: views, and how these are published.
  'src/bi/': 'all',
  // One rule says how long records of all kinds are kept.
  'src/ledger/prune-records.ts': ['alerts', 'backfills', 'call_budget', 'job_runs', 'runs'],
  // Whether a database holds anything that can be copied.
  'src/store/transfer-database.ts': ['runs'],
  // Whether an older livehouse is at work while the schema changes.
  'src/store/migrate.ts': ['leases'],
}
