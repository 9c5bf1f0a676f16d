import { parseRange, partitionLease, type Place, type Window } from '../../core/slice.ts'
import { MINUTE } from '../../core/wall-clock.ts'
import type { Db } from '../../store/database.ts'
import { type RaisedAlert, readAlertsRaised } from '../alerts.ts'
import { ops, type Row } from '../ops.ts'
import { readRun } from '../runs/runs.ts'
import { readLeases } from '../leases/lease-rows.ts'

/** A slice of a run. */
export interface RunSlice extends Pick<Row<'slices'>, 'stream' | 'partition' | 'proof' | 'startedAt' | 'finishedAt'> {
  /** Undefined for a walk over a whole list. */
  readonly window: Window | undefined
  readonly rows: number
  readonly calls: number
}

/** A partition that a process holds for the run now, and what the run has read of it so far. */
export interface HeldPart extends Place {
  readonly holder: string
  readonly since: Date
  readonly slices: number
  readonly rows: number
}

/** What one run was asked for, read and holds, beside its report. */
export interface RunDetails {
  /** Without secrets. */
  readonly asked: Readonly<Record<string, unknown>>
  /** Failed and short ones first, then the newest. */
  readonly slices: readonly RunSlice[]
  /** Raised while it went on, or within the minute after it. */
  readonly alerts: readonly RaisedAlert[]
  /** All of them, whichever processes hold them; the oldest first. */
  readonly held: readonly HeldPart[]
}

/** `most`: slices and alerts of each. `skip`: slices before these. */
export async function readRunDetails(
  db: Db,
  runId: string,
  { most, skip }: { readonly most: number; readonly skip: number },
): Promise<RunDetails> {
  const run = await readRun(db, runId)
  const slices = await ops(db)
    .selectFrom('slices')
    .select(['stream', 'partition', 'reads', 'proof', 'calls', 'distinctRows', 'startedAt', 'finishedAt'])
    .where('runId', '=', runId)
    .orderBy((slice) => slice('status', '=', 'failed'), 'desc')
    .orderBy('sliceId', 'desc')
    .limit(most)
    .offset(skip)
    .execute()
  const end = run?.finishedAt ? new Date(run.finishedAt.getTime() + MINUTE * 1000) : undefined
  return {
    asked: Object(run?.settings),
    slices: slices.map(({ reads, distinctRows, calls, ...slice }) => {
      return { ...slice, window: parseRange(reads), rows: Number(distinctRows), calls: Number(calls) }
    }),
    alerts: await readAlertsRaised(db, { from: run?.startedAt ?? null, to: end, most }),
    held: await readHeldParts(db, runId),
  }
}

async function readHeldParts(db: Db, runId: string): Promise<readonly HeldPart[]> {
  const held = (await readLeases(db)).filter((lease) => lease.forRun === runId)
  if (held.length === 0) return []
  const rows = await ops(db)
    .selectFrom('slices')
    .select(({ fn }) => ['stream', 'partition', fn.countAll<string>().as('slices'), fn.sum('distinctRows').as('rows')])
    .where('runId', '=', runId)
    .groupBy(['stream', 'partition'])
    .execute()
  const read = new Map(rows.map((row) => [partitionLease(row), row]))
  return held.map(({ name, holder, since }) => {
    const [, stream = '', partition = ''] = /^partition (\S+) (.*)$/s.exec(name) ?? []
    const { slices = 0, rows: sum = 0 } = read.get(name) ?? {}
    return { stream, partition, holder, since, slices: Number(slices), rows: Number(sum) }
  })
}
