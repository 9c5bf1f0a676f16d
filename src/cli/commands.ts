import type { Command, CommandEntry } from './command.ts'

/** Every verb, in the order in which `livehouse --help` lists them. */
const summaries = {
  demo: 'the whole way without an account: emulator, PostgreSQL, sync, and what came of it',
  init: 'asks for the settings, checks them and writes .env',
  sync: 'brings every stream up to now',
  backfill: 'reads a date range again, covered or not',
  audit: "holds the service's totals against the warehouse, and names what differs",
  run: 'runs one job of jobs/ now: for cron, systemd and Kubernetes',
  jobs: 'the jobs: when they are due, when they ran last and what came of it',
  serve: 'runs the jobs when they are due',
  worker: 'one more machine for the work of the same warehouse',
  status: 'freshness, coverage and proof of every stream, the last runs, quarantine',
  quarantine: 'received rows that could not be read, with reasons: list, retry',
  ledger: 'what has been read and what has not: show, forget',
  accept: 'acknowledges a shortfall, up to its size and for some days',
  channels: 'the configured channels, their state and what is known of them',
  labels: 'what you call the gifts: export, import',
  forms: 'questionnaires for analysts: publish, list, unpublish, clear',
  dictionary: 'what every table, view and column is, in English or Chinese',
  mcp: "the analysts' views for an assistant, read-only, over the Model Context Protocol",
  probe: 'finds out with few calls what the interface leaves open',
  capture: 'writes real answers without personal data to files, for bug reports and tests',
  doctor: 'checks settings, service, token, endpoints and database, and says how to mend each',
  migrate: 'the schema: up, down, status, sql',
  db: 'the embedded PostgreSQL: start, stop, url, psql',
  emulate: 'serves the whole interface of the channel service on this machine',
  api: "the service's other calls: access token, login ticket, channel menu",
}

const loads: Readonly<Record<keyof typeof summaries, () => Promise<Command>>> = {
  demo: async () => (await import('./demo.ts')).demo,
  init: async () => (await import('./init.ts')).init,
  sync: async () => (await import('./sync.ts')).sync,
  backfill: async () => (await import('./backfill.ts')).backfill,
  audit: async () => (await import('./audit.ts')).audit,
  run: async () => (await import('./run.ts')).run,
  jobs: async () => (await import('./jobs.ts')).jobs,
  serve: async () => (await import('./serve.ts')).serve,
  worker: async () => (await import('./worker.ts')).worker,
  status: async () => (await import('./status.ts')).status,
  quarantine: async () => (await import('./quarantine.ts')).quarantine,
  ledger: async () => (await import('./ledger.ts')).ledger,
  accept: async () => (await import('./accept.ts')).accept,
  channels: async () => (await import('./channels.ts')).channels,
  labels: async () => (await import('./labels.ts')).labels,
  forms: async () => (await import('./forms.ts')).forms,
  dictionary: async () => (await import('./dictionary.ts')).dictionary,
  mcp: async () => (await import('./mcp.ts')).mcp,
  probe: async () => (await import('./probe.ts')).probe,
  capture: async () => (await import('./capture.ts')).capture,
  doctor: async () => (await import('./doctor.ts')).doctor,
  migrate: async () => (await import('./migrate.ts')).migrate,
  db: async () => (await import('./db.ts')).db,
  emulate: async () => (await import('./emulate.ts')).emulate,
  api: async () => (await import('./api.ts')).api,
}

const summaryOf: Readonly<Record<string, string>> = summaries

/** Every verb, by name. */
export const commands: Readonly<Record<string, CommandEntry>> = Object.fromEntries(
  Object.entries(loads).map(([verb, load]) => [verb, { summary: summaryOf[verb] ?? '', load }]),
)
