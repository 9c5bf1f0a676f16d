import assert from 'node:assert/strict'
import { type Kysely, sql } from 'kysely'
import type { Clock } from '../core/clock.ts'
import type { Database } from '../db/database.ts'
import { isConnectionLoss } from '../db/is-connection-loss.ts'

/** The pace of calls as it is kept for all processes of a database; only who changes it knows what it means. */
export interface SharedPace {
  /**
   * Changes what is kept; undefined where there is nothing yet. `change` is called again where another process was faster;
   * where it gives back what it got, nothing is written. `nowMs` and `now` are the database's clock.
   */
  readonly exchange: <T extends { readonly pace: unknown }>(change: (pace: unknown, nowMs: number) => T) => Promise<T>
  readonly now: () => number
}

export interface SharedPaceOptions {
  /** Of the service: each has a pace of its own. */
  readonly host: string
  readonly clock: Clock
}

interface Kept {
  readonly version: string
  readonly pace: unknown
}

/** Of so many answers the quickest tells best what the database's clock shows. */
const SAMPLES = 8
/** So much do clocks drift apart between samples, at most: more is one that has been set. */
const DRIFT_MS = 100

/**
 * Keeps it in `livehouse_ops.call_paces`, changed by comparing versions: no lock is held while somebody thinks. Usually an
 * exchange is one statement: what this process wrote last is mostly still there.
 * @throws from `exchange`, db.unreachable when a second connection is lost too, db.refused
 */
export function createSharedPace(db: Kysely<Database>, { host, clock }: SharedPaceOptions): SharedPace {
  const databaseClock = createDatabaseClock(clock)
  let known: Kept | undefined

  const read = async (): Promise<Kept | undefined> => {
    const { row } = await databaseClock.time(async () => {
      const { rows } = await sql<{ version: string | null; pace: unknown; nowMs: number }>`
        select version, pace, ${nowMs} from (select) as one left join livehouse_ops.call_paces on host = ${host}`.execute(
        db,
      )
      const [row] = rows
      assert(row)
      return { row, nowMs: row.nowMs }
    })
    return row.version === null ? undefined : { version: row.version, pace: row.pace }
  }

  /** @returns whether nobody else was faster */
  const write = async (before: Kept | undefined, pace: unknown): Promise<boolean> => {
    const json = JSON.stringify(pace)
    const { row } = await databaseClock.time(async () => {
      const { rows } = await (before === undefined
        ? sql<{ version: string; nowMs: number }>`
              insert into livehouse_ops.call_paces (host, version, pace) values (${host}, 1, ${json}::jsonb)
              on conflict do nothing returning version, ${nowMs}`
        : sql<{ version: string; nowMs: number }>`
              update livehouse_ops.call_paces set version = version + 1, pace = ${json}::jsonb
              where host = ${host} and version = ${before.version} returning version, ${nowMs}`
      ).execute(db)
      return { row: rows[0], nowMs: rows[0]?.nowMs }
    })
    known = row && { version: row.version, pace }
    return row !== undefined
  }

  const tryExchange = async <T extends { readonly pace: unknown }>(
    change: (pace: unknown, nowMs: number) => T,
  ): Promise<T> => {
    for (;;) {
      const isFresh = known === undefined
      if (isFresh) known = await read()
      const before = known
      const changed = change(before?.pace, databaseClock.now())
      const isSame = changed.pace === before?.pace
      if (isSame ? isFresh : await write(before, changed.pace)) return changed
      known = undefined
    }
  }

  return {
    exchange: async (change) => {
      try {
        return await tryExchange(change)
      } catch (error) {
        known = undefined
        // The pool has another connection: what was lost is a statement that may be made again.
        if (!isConnectionLoss(error)) throw error
        return await tryExchange(change)
      }
    },
    now: databaseClock.now,
  }
}

const nowMs = sql`(extract(epoch from clock_timestamp()) * 1000)::float8 as "nowMs"`

/** What the database's clock shows, by its answers: each was given between the question and its arrival. */
function createDatabaseClock(clock: Clock) {
  let samples: readonly { readonly offsetMs: number; readonly tripMs: number }[] = []
  let offsetMs = 0
  let bestTripMs = 0
  return {
    now: () => clock.now() + offsetMs,
    time: async <T extends { readonly nowMs: number | undefined }>(ask: () => Promise<T>): Promise<T> => {
      const askedAt = clock.now()
      const answer = await ask()
      const tripMs = clock.now() - askedAt
      if (answer.nowMs === undefined) return answer
      // The clock has been set back meanwhile: such an answer tells nothing.
      if (tripMs < 0) return answer
      const sample = { offsetMs: answer.nowMs - (askedAt + tripMs / 2), tripMs }
      const hasJumped = Math.abs(sample.offsetMs - offsetMs) > (sample.tripMs + bestTripMs) / 2 + DRIFT_MS
      samples = [...(hasJumped ? [] : samples), sample].slice(-SAMPLES)
      const best = samples.reduce((quickest, each) => (each.tripMs < quickest.tripMs ? each : quickest), sample)
      offsetMs = best.offsetMs
      bestTripMs = best.tripMs
      return answer
    },
  }
}
