import { endpointOf } from '../../../src/core/slice.ts'
import { allStreams, writtenTables } from '../../../src/streams/registry.ts'
import type { Habit } from './read-source.ts'

type Table<Key extends string = string> = Readonly<Record<Key, readonly string[]>>

const belowApp = ['core', 'bi', 'transform', 'streams', 'service', 'store', 'ledger', 'sync']
const belowCli = ['core', 'bi', 'streams', ...belowApp.map((each) => `type ${each}`)]

/** What each folder, or file of the root, may import; `type store` allows types only. A new entry needs a reason. */
export const folders: Table = {
  core: [],
  transform: ['core'],
  streams: ['core', 'transform'],
  service: ['core'],
  store: ['core'],
  // Declares the views of livehouse_bi, and in bi/publish creates them.
  bi: ['core', 'streams', 'store'],
  ledger: ['core', 'bi', 'store'],
  sync: ['core', 'transform', 'ledger', 'store'],
  scheduler: [...belowApp, 'app'],
  web: ['core', 'streams', 'ledger', 'sync', 'app', 'type store'],
  emulator: ['core'],
  // app declares the types of the settings that it needs.
  config: ['core', 'bi', 'type app'],
  log: ['core'],
  // What verbs, jobs and workers share. It does not print.
  app: belowApp,
  // Verbs parse and print; app, scheduler and web do the work.
  cli: [...belowCli, 'app', 'scheduler', 'web', 'config', 'config.ts', 'emulator', 'log.ts'],
  'config.ts': ['core', 'config', 'type bi', 'type app'],
  'log.ts': ['core', 'log'],
  'main.ts': ['core', 'cli'],
  // It must load even if no dependency is installed.
  'cli.ts': [],
  'globals.d.ts': [],
}

/** Folders without input and output, except for what is in `pureModules`. */
export const pureFolders = ['core', 'transform', 'streams', 'bi']

/** What single files may import beyond their folder: actions of one verb, which no job and no worker takes. */
export const exceptions: Readonly<Record<string, string>> = {
  'src/cli/api.ts → service': 'the calls that no run makes',
  'src/cli/db.ts → store': 'the embedded server, and copies of a database',
  'src/cli/demo.ts → store': 'a database that is created anew',
  'src/cli/labels.ts → ledger': 'one table, read and written whole',
  'src/cli/migrate.ts → store': 'migrations',
  'src/cli/run-command-line.ts → store': 'opens databases for verbs, loaded only then',
}

/** The folders or files of `src` that may import a package; `type` and a package allows types only. */
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

/** Node's modules that pure folders may import, with the paths that may do so. */
export const pureModules: Table = {
  'node:assert/strict': ['src/'],
  'node:crypto': ['src/bi/publish/'],
  'node:module': ['src/core/program-files.ts'],
  'node:net': ['src/transform/read-item.ts'],
  'node:path': ['src/core/program-files.ts'],
  'node:timers/promises': ['src/core/clock.ts'],
}

/** The paths that may have each habit. */
export const habits: Table<Habit> = {
  'process.env': ['src/config.ts', 'test/'],
  time: ['src/core/clock.ts', 'test/'],
  're-export': [],
  // Migrations and jobs are loaded from a folder.
  'computed import': ['src/store/migrate.ts', 'src/scheduler/load-jobs.ts'],
  // It shows the whole server. Other databases, such as those of tests that run at the same time, have equal numbers.
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
/** The stream names that other files may contain. */
export const leaks: Table = {
  // Help texts: examples, and what a verb does with a stream that users know by its name.
  'src/cli/accept.ts': ['manager_usage'],
  'src/cli/audit.ts': ['watch_records'],
  'src/cli/db.ts': ['visitors'],
  'src/cli/forms.ts': ['signups'],
  'src/cli/ledger.ts': ['watch_records'],
  // Code for one stream, which would be deleted with it.
  'src/bi/publish/publish-forms.ts': ['questionnaires', 'signups'],
  'src/app/read-records.ts': ['visitors'],
  'src/cli/channels.ts': ['visitors'],
  'src/ledger/channels.ts': ['visitors', 'watch_records'],
  'src/ledger/gift-labels.ts': ['gifts'],
  'src/ledger/table-sizes.ts': ['watch_records'],
  'src/ledger/questionnaires.ts': ['questionnaires'],
  'src/store/tables/operation-tables.ts': ['questionnaires'],
}

/** The tables of `livehouse_ops` whose SQL is only in this file, or in this folder (with a slash at the end). */
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

/** Files and folders that may name tables of other owners: all tables, or these. */
export const otherReaders: Readonly<Record<string, readonly string[] | 'all'>> = {
  // Declares their columns as types for the query builder.
  'src/store/tables/': 'all',
  // Declares and creates the analysts' views on them.
  'src/bi/': 'all',
  // One rule decides how long records of all kinds are kept.
  'src/ledger/prune-records.ts': ['alerts', 'backfills', 'call_budget', 'job_runs', 'runs'],
  // Checks whether a database contains anything to copy.
  'src/store/transfer-database.ts': ['runs'],
  // Checks whether an older livehouse is running while the schema changes.
  'src/store/migrate.ts': ['leases'],
}
