import type { Kysely } from 'kysely'
import { type Partition, partitionKey, type Window } from '../../core/slice.ts'
import type { Stream } from '../../core/stream.ts'
import type { WallTime } from '../../core/wall-clock.ts'
import type { Database } from '../../store/database.ts'
import { readQuarantined } from '../../ledger/quarantine.ts'
import { countHeld, countUntimed, findMinute, type TablePart } from '../../store/table-part.ts'
import { minuteOf } from '../row-window.ts'

/** What the warehouse holds of one partition of a time-filtered stream: rows, and what came and could not be read. */
export interface Holdings {
  /** Whose time of this column lies in a range. */
  readonly within: (column: string, window: Window) => Promise<number>
  /** That have no time in this column which could be read: they may lie anywhere. */
  readonly untimed: (column: string) => Promise<number>
  /** Of `within` what is in quarantine. */
  readonly quarantinedWithin: (column: string, window: Window) => number
  /** Of `untimed` what is in quarantine. */
  readonly quarantinedUntimed: (column: string) => number
  /** The minute of the row at this place in the order of a column. */
  readonly minuteAt: (column: string, window: Window, place: number) => Promise<WallTime | undefined>
  /** Hashes of what is in quarantine. */
  readonly quarantined: ReadonlySet<string>
}

export async function openHoldings(
  db: Kysely<Database>,
  stream: Stream,
  partition: Partition,
  timeZone: string,
): Promise<Holdings> {
  const items = await readQuarantined(db, stream.name, partitionKey(partition))
  const partOf = (column: string, window: Window | undefined): TablePart => ({
    stream: { ...stream, timeColumns: [column] },
    partition,
    window,
    timeZone,
  })
  const minutesOf = (column: string) => items.map(({ raw }) => minuteOfItem(raw, stream, column, timeZone))
  const quarantinedWithin = (column: string, window: Window) =>
    minutesOf(column).filter((minute) => minute !== undefined && minute >= window.from && minute < window.to).length
  const quarantinedUntimed = (column: string) => minutesOf(column).filter((minute) => minute === undefined).length
  return {
    within: async (column, window) => (await countHeld(db, partOf(column, window))) + quarantinedWithin(column, window),
    untimed: async (column) => (await countUntimed(db, partOf(column, undefined), column)) + quarantinedUntimed(column),
    quarantinedWithin,
    quarantinedUntimed,
    minuteAt: async (column, window, place) => await findMinute(db, partOf(column, window), column, place),
    quarantined: new Set(items.map(({ hash }) => hash)),
  }
}

/**
 * In which minute an item (JSON text) lies that could not become a row; undefined where that cannot be read either. Only of an object
 * are the fields known by name: an array of cells has been refused as such.
 */
export function minuteOfItem(raw: string, { columns }: Stream, column: string, timeZone: string): WallTime | undefined {
  const source = columns[column]?.source
  if (source?.kind !== 'field') return undefined
  const value = source.parse(Object(JSON.parse(raw))[source.field])
  return typeof value === 'string' ? minuteOf(value, timeZone) : undefined
}
