import { type Kysely, sql } from 'kysely'
import type { Cause } from '../core/cause.ts'
import { parseRange, type Window } from '../core/slice.ts'
import type { Database } from '../store/database.ts'
import { type HeldLease, readLeases } from './leases.ts'

/** A slice of a run. */
export interface RunSlice {
  readonly stream: string
  readonly partition: string
  /** Undefined for a walk over a whole list. */
  readonly window: Window | undefined
  readonly proof: string
  readonly rows: number
  readonly calls: number
  readonly startedAt: Date
  readonly finishedAt: Date
}

/** A message about the warehouse that was due. */
export interface RaisedAlert {
  readonly cause: Cause
  readonly raisedAt: Date
  readonly clearedAt: Date | null
}

/** What one run was asked for and what it left, beside its report. */
export interface RunDetails {
  /** Without secrets. */
  readonly asked: Readonly<Record<string, unknown>>
  /** Failed and short ones first, then the newest. */
  readonly slices: readonly RunSlice[]
  /** Raised while it went on, or within the minute after it. */
  readonly alerts: readonly RaisedAlert[]
  /** Partitions that are held now, by whichever run. */
  readonly held: readonly HeldLease[]
}

/** `most`: slices and alerts of each. `skip`: slices before these. */
export async function readRunDetails(
  db: Kysely<Database>,
  runId: string,
  { most, skip }: { readonly most: number; readonly skip: number },
): Promise<RunDetails> {
  const run = await db
    .selectFrom('livehouse_ops.runs')
    .select(sql<Readonly<Record<string, unknown>>>`settings`.as('asked'))
    .where('run_id', '=', runId)
    .executeTakeFirst()
  const slices = await db
    .selectFrom('livehouse_ops.slices')
    .select(['stream', 'partition', 'reads', 'proof', 'calls', 'distinct_rows as rows'])
    .select(['started_at as startedAt', 'finished_at as finishedAt'])
    .where('run_id', '=', runId)
    .orderBy((slice) => slice('status', '=', 'failed'), 'desc')
    .orderBy('slice_id', 'desc')
    .limit(most)
    .offset(skip)
    .execute()
  const alerts = await db
    .selectFrom('livehouse_ops.alerts')
    .innerJoin('livehouse_ops.runs', (join) => join.on('run_id', '=', runId))
    .select(sql<Cause>`facts`.as('cause'))
    .select(['raised_at as raisedAt', 'cleared_at as clearedAt'])
    .whereRef('raised_at', '>=', 'started_at')
    .where(sql<boolean>`raised_at < coalesce(finished_at, now()) + interval '1 minute'`)
    .orderBy('alert_id', 'desc')
    .limit(most)
    .execute()
  const held = (await readLeases(db)).flatMap(({ name, ...lease }) =>
    name.startsWith('partition ') ? [{ ...lease, name: name.slice('partition '.length) }] : [],
  )
  return {
    asked: run?.asked ?? {},
    slices: slices.map(({ reads, rows, calls, ...slice }) => {
      return { ...slice, window: parseRange(reads), rows: Number(rows), calls: Number(calls) }
    }),
    alerts,
    held: held.slice(0, most),
  }
}
