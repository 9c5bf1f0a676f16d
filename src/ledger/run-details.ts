import { type Kysely, sql } from 'kysely'
import type { Cause } from '../core/cause.ts'
import { parseRange, type Window } from '../core/slice.ts'
import type { Database } from '../store/database.ts'
import { type HeldLease, readLeases } from './leases.ts'
import { ops, type Row } from './ops.ts'

/** A slice of a run. */
export interface RunSlice extends Pick<Row<'slices'>, 'stream' | 'partition' | 'startedAt' | 'finishedAt'> {
  readonly proof: string
  /** Undefined for a walk over a whole list. */
  readonly window: Window | undefined
  readonly rows: number
  readonly calls: number
}

/** A message about the warehouse that was due. */
export interface RaisedAlert extends Pick<Row<'alerts'>, 'raisedAt' | 'clearedAt'> {
  readonly cause: Cause
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
  const run = await ops(db).selectFrom('runs').select('settings').where('runId', '=', runId).executeTakeFirst()
  const slices = await ops(db)
    .selectFrom('slices')
    .select(['stream', 'partition', 'reads', 'proof', 'calls', 'distinctRows', 'startedAt', 'finishedAt'])
    .where('runId', '=', runId)
    .orderBy((slice) => slice('status', '=', 'failed'), 'desc')
    .orderBy('sliceId', 'desc')
    .limit(most)
    .offset(skip)
    .execute()
  const alerts = await ops(db)
    .selectFrom('alerts')
    .innerJoin('runs', (join) => join.on('runId', '=', runId))
    .select((eb) => [eb.ref('facts').$castTo<Cause>().as('cause'), 'raisedAt', 'clearedAt'])
    .whereRef('raisedAt', '>=', 'startedAt')
    .where('raisedAt', '<', sql<Date>`coalesce(finished_at, now()) + interval '1 minute'`)
    .orderBy('alertId', 'desc')
    .limit(most)
    .execute()
  const held = (await readLeases(db)).flatMap(({ name, ...lease }) =>
    name.startsWith('partition ') ? [{ ...lease, name: name.slice('partition '.length) }] : [],
  )
  return {
    asked: Object(run?.settings),
    slices: slices.map(({ reads, distinctRows, calls, ...slice }) => {
      return { ...slice, window: parseRange(reads), rows: Number(distinctRows), calls: Number(calls) }
    }),
    alerts,
    held: held.slice(0, most),
  }
}
