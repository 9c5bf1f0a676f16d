/** By file, or folder that ends with a slash: the tables of `livehouse_ops` whose SQL stands there and nowhere else. */
export const owners: Readonly<Record<string, readonly string[]>> = {
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
}
