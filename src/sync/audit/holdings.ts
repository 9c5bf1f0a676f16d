import type { Kysely } from 'kysely'
import { type Partition, partitionKey, type Window } from '../../core/slice.ts'
import type { Stream } from '../../core/stream.ts'
import type { WallTime } from '../../core/wall-clock.ts'
import { readQuarantined } from '../../ledger/quarantine.ts'
import type { Database } from '../../store/database.ts'
import { countHeld, countUntimed, findMinute, findQuietMinute, type QuietMinute } from '../../store/table-part.ts'
import { minuteOf } from '../row-window.ts'

/** Rows, what is in quarantine among them. */
export interface Held {
  readonly rows: number
  readonly quarantined: number
}

/** What the warehouse holds of one partition of a time-filtered stream: rows, and what came and could not be read. */
export interface Holdings {
  /** What lies in a range; without one, that whose time could not be read: it may lie anywhere. */
  readonly count: (window?: Window) => Promise<Held>
  /** The minute of the row at this place in the order of time; undefined where there is none. */
  readonly minuteAt: (window: Window, place: number) => Promise<WallTime | undefined>
  /** The minute of a range that fewest rows touch, the one closest to `near` of them. */
  readonly quietMinute: (window: Window, near: WallTime) => Promise<QuietMinute>
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
  const minutes = items.map(({ raw }) => minuteOfItem(raw, stream, timeZone))
  const whole = { stream, partition, window: undefined, timeZone }
  return {
    count: async (window) => {
      const rows = window ? await countHeld(db, { ...whole, window }) : await countUntimed(db, whole)
      const quarantined = minutes.filter((minute) => {
        if (window === undefined || minute === undefined) return window === minute
        return minute >= window.from && minute < window.to
      }).length
      return { rows: rows + quarantined, quarantined }
    },
    minuteAt: async (window, place) => await findMinute(db, { ...whole, window }, place),
    quietMinute: async (window, near) => await findQuietMinute(db, { ...whole, window }, near),
    quarantined: new Set(items.map(({ hash }) => hash)),
  }
}

/**
 * In which minute an item (JSON text) lies that could not become a row; undefined where that cannot be read either. Only of an object
 * are the fields known by name: an array of cells has been refused as such.
 */
export function minuteOfItem(raw: string, { columns, timeColumns }: Stream, timeZone: string): WallTime | undefined {
  const fields: Readonly<Record<string, unknown>> = Object(JSON.parse(raw))
  for (const name of timeColumns) {
    const source = columns[name]?.source
    const value = source?.kind === 'field' ? source.parse(fields[source.field]) : undefined
    const minute = typeof value === 'string' ? minuteOf(value, timeZone) : undefined
    if (minute !== undefined) return minute
  }
  return undefined
}
