import type { Kysely } from 'kysely'
import type { LedgerTables } from './tables/ledger-tables.ts'
import type { OperationTables } from './tables/operation-tables.ts'

/**
 * Every table of the warehouse that is not a stream's, by its qualified name. `bigint` and `numeric` are exact decimal
 * text, `timestamptz` is a `Date`; `date`, `timestamp` and ranges stay the text of Postgres.
 */
export interface Database extends LedgerTables, OperationTables {}

/** The database as statements reach it: a pool, one connection or a transaction. */
export type Db = Kysely<Database>
