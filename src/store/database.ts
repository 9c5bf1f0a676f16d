import type { Kysely } from 'kysely'
import type { LedgerTables } from './tables/ledger-tables.ts'
import type { OperationTables } from './tables/operation-tables.ts'

/**
 * The tables that do not belong to a stream, by qualified name. `bigint` and `numeric` are exact decimal text,
 * `timestamptz` is a `Date`; `date`, `timestamp` and ranges are Postgres' text.
 */
export interface Database extends LedgerTables, OperationTables {}

/** What statements run on: a pool, one connection or a transaction. */
export type Db = Kysely<Database>
