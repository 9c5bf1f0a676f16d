import { parseRange, partitionLease } from '../../core/slice.ts'
import { MINUTE } from '../../core/wall-clock.ts'
import type { Db } from '../../store/database.ts'
import { readAlertsRaised } from '../alerts.ts'
import { readLeases } from '../leases/lease-rows.ts'
import { ops } from '../ops.ts'
import { readRun } from '../runs/runs.ts'

/** What a run's page shows beside its report: its arguments, slices, alerts and leases. */
export type RunDetails = Awaited<ReturnType<typeof readRunDetails>>

/** Reads the details of a run. `limit`: how many slices, and how many alerts. `skip`: how many slices to leave out. */
export async function readRunDetails(
  db: Db,
  runId: string,
  { limit, skip }: { readonly limit: number; readonly skip: number },
) {
  const run = await readRun(db, runId)
  const slices = await ops(db)
    .selectFrom('slices')
    .select(['stream', 'partition', 'reads', 'proof', 'calls', 'distinctRows', 'startedAt', 'finishedAt'])
    .where('runId', '=', runId)
    .orderBy((slice) => slice('status', '=', 'failed'), 'desc')
    .orderBy('sliceId', 'desc')
    .limit(limit)
    .offset(skip)
    .execute()
  const end = run?.finishedAt ? new Date(run.finishedAt.getTime() + MINUTE * 1000) : undefined
  const settings: Readonly<Record<string, unknown>> = Object(run?.settings)
  return {
    /** The run's arguments, without secrets. */
    asked: settings,
    /** Failed and short slices first, then the newest. `window`: undefined for a whole list. */
    slices: slices.map(({ reads, distinctRows, calls, ...slice }) => {
      return { ...slice, window: parseRange(reads), rows: Number(distinctRows), calls: Number(calls) }
    }),
    /** Alerts raised while it ran, or within the minute after. */
    alerts: await readAlertsRaised(db, { from: run?.startedAt ?? null, to: end, limit }),
    /** The partitions that processes hold for it now, oldest first, with what it has read of them so far. */
    held: await readHeldParts(db, runId),
  }
}

async function readHeldParts(db: Db, runId: string) {
  const held = (await readLeases(db)).filter((lease) => lease.forRun === runId)
  if (held.length === 0) return []
  const rows = await ops(db)
    .selectFrom('slices')
    .select(({ fn }) => ['stream', 'partition', fn.countAll<string>().as('slices'), fn.sum('distinctRows').as('rows')])
    .where('runId', '=', runId)
    .groupBy(['stream', 'partition'])
    .execute()
  const sumsByLease = new Map(rows.map((row) => [partitionLease(row), row]))
  return held.map(({ name, holder, since }) => {
    const [, stream = '', partition = ''] = /^partition (\S+) (.*)$/s.exec(name) ?? []
    const { slices = 0, rows: sum = 0 } = sumsByLease.get(name) ?? {}
    return { stream, partition, holder, since, slices: Number(slices), rows: Number(sum) }
  })
}
