import type { ColumnType } from 'kysely'

/** Decimal text on reading; numbers are accepted where they are small counts. */
export type BigInteger = ColumnType<string, string | number | bigint, string | number | bigint>
export type OptionalBigInteger = ColumnType<
  string | null,
  string | number | bigint | null | undefined,
  string | number | bigint | null
>
export type Instant = ColumnType<Date, Date | string, Date | string>
export type OptionalInstant = ColumnType<Date | null, Date | string | null | undefined, Date | string | null>
/** Written as JSON text. */
export type Json = ColumnType<unknown, string, string>
export type OptionalJson = ColumnType<unknown, string | null | undefined, string | null>
