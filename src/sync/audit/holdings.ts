import type { Kysely } from 'kysely'
import { type Partition, partitionKey, type Window } from '../../core/slice.ts'
import type { Stream } from '../../core/stream.ts'
import type { WallTime } from '../../core/wall-clock.ts'
import type { Database } from '../../store/database.ts'
import { readQuarantined } from '../../ledger/quarantine.ts'
import { countHeld, countUntimed, findMinute, type TablePart } from '../../store/table-part.ts'
import { minuteOf } from '../row-window.ts'

/** Rows, what is in quarantine among them. */
export interface Held {
  readonly rows: number
  readonly quarantined: number
}

/** What the warehouse holds of one partition of a time-filtered stream: rows, and what came and could not be read. */
export interface Holdings {
  /** Whose time of this column lies in a range; without one, those whose time could not be read: they may lie anywhere. */
  readonly count: (column: string, window?: Window) => Promise<Held>
  /** The minute of the row at this place in the order of a column; undefined where there is none. */
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
  const partOf = (column: string, window: Window | undefined): TablePart => {
    return { stream: { ...stream, timeColumns: [column] }, partition, window, timeZone }
  }
  return {
    count: async (column, window) => {
      const part = partOf(column, window)
      const rows = window === undefined ? await countUntimed(db, part, column) : await countHeld(db, part)
      const quarantined = items.filter(({ raw }) => {
        const minute = minuteOfItem(raw, stream, column, timeZone)
        if (window === undefined || minute === undefined) return window === minute
        return minute >= window.from && minute < window.to
      }).length
      return { rows: rows + quarantined, quarantined }
    },
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
