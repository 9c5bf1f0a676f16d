import type { AcceptancesTable, AcceptanceUsesTable } from './tables/acceptance-tables.ts'
import type {
  SourceTable,
  RunsTable,
  SlicesTable,
  LatestReadingsView,
  OpenReadingsView,
  QuarantineTable,
  MissedRowsTable,
  UnknownFieldsTable,
  KnownFieldsTable,
  ReopenedRangesTable,
  ChannelStatesTable,
  BackfillsTable,
  HeadersTable,
  OpenSlicesTable,
} from './tables/ledger-tables.ts'
import type {
  AlertsTable,
  JobsTable,
  JobRunsTable,
  LeasesTable,
  LocksTable,
  SchedulersTable,
} from './tables/schedule-tables.ts'
import type { CallBudgetTable, CallPacesTable, AccessTokensTable, SourceFactsTable } from './tables/service-tables.ts'
import type { ChannelsTable, QuestionnairesTable } from './tables/warehouse-tables.ts'

/**
 * Every table of the warehouse, by its qualified name. `bigint` and `numeric` are exact decimal text, `timestamptz` is a
 * `Date`; `date`, `timestamp` and ranges stay the text of Postgres (see `pg-types.ts`).
 */
export interface Database {
  'livehouse.channels': ChannelsTable
  'livehouse.questionnaires': QuestionnairesTable
  'livehouse_ops.source': SourceTable
  'livehouse_ops.runs': RunsTable
  'livehouse_ops.slices': SlicesTable
  'livehouse_ops.latest_readings': LatestReadingsView
  'livehouse_ops.open_readings': OpenReadingsView
  'livehouse_ops.quarantine': QuarantineTable
  'livehouse_ops.backfills': BackfillsTable
  'livehouse_ops.headers': HeadersTable
  'livehouse_ops.source_facts': SourceFactsTable
  'livehouse_ops.missed_rows': MissedRowsTable
  'livehouse_ops.unknown_fields': UnknownFieldsTable
  'livehouse_ops.known_fields': KnownFieldsTable
  'livehouse_ops.reopened_ranges': ReopenedRangesTable
  'livehouse_ops.channel_states': ChannelStatesTable
  'livehouse_ops.call_budget': CallBudgetTable
  'livehouse_ops.open_slices': OpenSlicesTable
  'livehouse_ops.access_tokens': AccessTokensTable
  'livehouse_ops.call_paces': CallPacesTable
  'livehouse_ops.jobs': JobsTable
  'livehouse_ops.job_runs': JobRunsTable
  'livehouse_ops.schedulers': SchedulersTable
  'livehouse_ops.alerts': AlertsTable
  'livehouse_ops.leases': LeasesTable
  'livehouse_ops.locks': LocksTable
  'livehouse_ops.acceptances': AcceptancesTable
  'livehouse_ops.acceptance_uses': AcceptanceUsesTable
}
