import type { CommandEntry } from './command.ts'

/** Every verb, in the order in which `livehouse --help` lists them. */
export const commands: Readonly<Record<string, CommandEntry>> = {
  demo: {
    summary: 'the whole way without an account: emulator, PostgreSQL, sync, and what came of it',
    load: async () => (await import('./demo.ts')).demo,
  },
  init: {
    summary: 'asks for the settings, checks them and writes .env',
    load: async () => (await import('./init.ts')).init,
  },
  sync: {
    summary: 'brings every stream up to now',
    load: async () => (await import('./sync.ts')).sync,
  },
  backfill: {
    summary: 'reads a date range again, covered or not',
    load: async () => (await import('./backfill.ts')).backfill,
  },
  audit: {
    summary: "holds the service's totals against the warehouse, and names what differs",
    load: async () => (await import('./audit.ts')).audit,
  },
  run: {
    summary: 'runs one job of jobs/ now: for cron, systemd and Kubernetes',
    load: async () => (await import('./run.ts')).run,
  },
  jobs: {
    summary: 'the jobs: when they are due, when they ran last and what came of it',
    load: async () => (await import('./jobs.ts')).jobs,
  },
  serve: {
    summary: 'runs the jobs when they are due',
    load: async () => (await import('./serve.ts')).serve,
  },
  worker: {
    summary: 'one more machine for the work of the same warehouse',
    load: async () => (await import('./worker.ts')).worker,
  },
  status: {
    summary: 'freshness, coverage and proof of every stream, the last runs, quarantine',
    load: async () => (await import('./status.ts')).status,
  },
  quarantine: {
    summary: 'received rows that could not be read, with reasons: list, retry',
    load: async () => (await import('./quarantine.ts')).quarantine,
  },
  ledger: {
    summary: 'what has been read and what has not: show, forget',
    load: async () => (await import('./ledger.ts')).ledger,
  },
  accept: {
    summary: 'acknowledges a shortfall, up to its size and for some days',
    load: async () => (await import('./accept.ts')).accept,
  },
  channels: {
    summary: 'the configured channels, their state and what is known of them',
    load: async () => (await import('./channels.ts')).channels,
  },
  labels: {
    summary: 'what you call the gifts: export, import',
    load: async () => (await import('./labels.ts')).labels,
  },
  forms: {
    summary: 'questionnaires for analysts: publish, list, unpublish, clear',
    load: async () => (await import('./forms.ts')).forms,
  },
  dictionary: {
    summary: 'what every table, view and column is, in English or Chinese',
    load: async () => (await import('./dictionary.ts')).dictionary,
  },
  probe: {
    summary: 'finds out with few calls what the interface leaves open',
    load: async () => (await import('./probe.ts')).probe,
  },
  capture: {
    summary: 'writes real answers without personal data to files, for bug reports and tests',
    load: async () => (await import('./capture.ts')).capture,
  },
  doctor: {
    summary: 'checks settings, service, token, endpoints and database, and says how to mend each',
    load: async () => (await import('./doctor.ts')).doctor,
  },
  migrate: { summary: 'the schema: up, down, status, sql', load: async () => (await import('./migrate.ts')).migrate },
  db: { summary: 'the embedded PostgreSQL: start, stop, url, psql', load: async () => (await import('./db.ts')).db },
  emulate: {
    summary: 'serves the whole interface of the channel service on this machine',
    load: async () => (await import('./emulate.ts')).emulate,
  },
  api: {
    summary: "the service's other calls: access token, login ticket, channel menu",
    load: async () => (await import('./api.ts')).api,
  },
}
