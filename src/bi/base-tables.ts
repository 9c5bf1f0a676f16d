import type { BaseTable } from './base-table.ts'
import type { Words } from './view.ts'
import { analystTables } from './tables/analyst-tables.ts'
import { findingTables } from './tables/finding-tables.ts'
import { formTables } from './tables/form-tables.ts'
import { ledgerTables } from './tables/ledger-tables.ts'
import { leaseTables } from './tables/lease-tables.ts'
import { partitionTables } from './tables/partition-tables.ts'
import { serviceTables } from './tables/service-tables.ts'
import { viewerTables } from './tables/viewer-tables.ts'

/** Every table that the migrations make, by its qualified name: what `livehouse dictionary` and the comments in Chinese say. */
export const baseTables: Readonly<Record<string, BaseTable>> = {
  ...viewerTables,
  ...formTables,
  ...ledgerTables,
  ...findingTables,
  ...partitionTables,
  ...serviceTables,
  ...leaseTables,
  ...analystTables,
}

/** The schemas of the tables. */
export const baseSchemas: Readonly<Record<string, Words>> = {
  livehouse: {
    en: 'The records of one live-streaming account, typed; written by livehouse',
    zh: '一个直播账号的记录，类型明确；由 livehouse 写入',
  },
  livehouse_ops: {
    en: 'The operational state of livehouse: runs, coverage, quarantine; not for analysts',
    zh: 'livehouse 的运行状态：运行、覆盖、隔离区；不面向分析师',
  },
}
