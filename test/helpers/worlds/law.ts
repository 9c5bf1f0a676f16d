import { sql } from 'kysely'
import { DAY, MINUTE, type WallTime } from '../../../src/core/wall-clock.ts'
import type { TruthRow } from '../../../src/emulator/truth.ts'
import { findStream } from '../../../src/streams/registry.ts'
import { SETTLE } from '../model/model-world.ts'
import { readStreamTable } from '../read-table.ts'
import type { RunEnd, RunScope, WorldAccount } from './account.ts'
import { isHidden } from './add-odd-rows.ts'
import {
  compareRows,
  countRows,
  countTexts,
  isYounger,
  nameOf,
  type Precision,
  type Rows,
  requireNone,
  requirePresent,
  textOf,
  timeOf,
  toTheMinute,
} from './compare-rows.ts'

type Counts = ReadonlyMap<string, number>

export interface StateBefore {
  readonly truth: Rows
  readonly marked: Counts
  readonly known: Counts
  /** The latest service time of the earlier runs. */
  readonly readTo: WallTime
}

/** What happened in a run. */
export interface RunFacts {
  readonly scope: RunScope
  readonly end: Pick<RunEnd, 'code' | 'startedAt'>
  /** The service lied in this run. */
  readonly isLie: boolean
  /** Rows have changed behind the lookback, and no job has read them yet. */
  readonly hasMore: boolean
}

type LawAccount = Pick<WorldAccount, 'database' | 'emulator' | 'streams' | 'now'>

/**
 * The law that every scenario and every schedule of the model must keep. `isShuffled`: rows of one minute are in
 * another order on each page.
 *
 * 1. Never green and false. If a run exits 0, the tables have, as the service has it, each row that existed unchanged
 *    while it ran, if the run covers it (channels, history, lookback) and its times had passed, by the service's clock
 *    at the start. Rows without an id, and shuffled rows, must also be older than settle: nothing is claimed about
 *    younger ones, and the last run at rest has them. If the service lied in a run, that run is excused, and so are
 *    later ones for what is behind their lookback, until the service is honest and still again.
 * 2. An agreed range has what the service has in it, even if one reading was lied to.
 * 3. No row that existed all along is marked as removed, unless two readings were lied to.
 * 4. No run overwrites twenty known values of one channel with nothing.
 * 5. What one run has right, another that started earlier does not undo.
 * 6. A run that met only harmless troubles is green.
 * 7. An audit that finds no difference has looked, and there is none. After it reopens a range, none is green before
 *    the range has been read again.
 * 8. Nothing is lost or doubled: once the service is honest and still again, a few syncs an hour or more apart are
 *    green, and the tables equal the truth. Withdrawn rows are marked as removed, if a green run could have seen by a
 *    true total that they are missing.
 * 9. The tables never have a row that the service never had, nor more rows of one identity, with times to the minute,
 *    than the service ever had at once.
 */
export function createLaw(account: LawAccount, lookbackDays: number, precision: Precision, isShuffled: boolean) {
  const { emulator, streams, now } = account
  const { db } = account.database
  const toText = (row: TruthRow) => textOf(row, precision)
  /** Rows that no longer exist, and whether a green run could have noticed. */
  const removed = new Map<string, { readonly row: TruthRow; isDue: boolean }>()
  /** Identities that once had more rows. */
  const reduced = new Set<string>()
  /** The most rows of each identity, to the minute, that the service has had at once. */
  const mostRows = new Map<string, number>()
  let lies = 0
  let latest: WallTime = Number.NEGATIVE_INFINITY

  const readTruth = (): Rows =>
    new Map(streams.map((name) => [name, (emulator.truth()[name] ?? []).filter((row) => !isHidden(row))]))
  /** The rows that existed then and have not changed. */
  const readStable = ({ truth }: StateBefore): Rows =>
    new Map([...readTruth()].map(([name, rows]) => [name, compareRows(rows, truth.get(name) ?? [], toText).common]))
  const readPresent = async (name: string) => await readStreamTable(db, name, { isRemoved: false })
  const readTables = async (isRemoved?: boolean): Promise<Rows> => {
    const tables = streams.map(async (name) => [name, await readStreamTable(db, name, { isRemoved })] as const)
    return new Map(await Promise.all(tables))
  }
  const requireStable = async (before: StateBefore, { scope, end }: RunFacts, since: WallTime) => {
    for (const [name, rows] of readStable(before)) {
      const claimedTo = isShuffled || findStream(name)?.identity !== undefined ? end.startedAt - SETTLE : end.startedAt
      const expected = rows.filter((row) => isInScope(row, scope, since) && !isYounger(row, claimedTo))
      requirePresent(name, expected, await readPresent(name), toText)
    }
  }
  const remember = (truth: Rows): void => {
    for (const [identity, count] of countRows(truth, toTheMinute))
      mostRows.set(identity, Math.max(count, mostRows.get(identity) ?? 0))
  }
  remember(readTruth())

  return {
    /** Changes the world, and remembers which rows are gone. */
    change: (act: () => void) => {
      const before = readTruth()
      act()
      const truth = readTruth()
      remember(truth)
      const after = countRows(truth)
      for (const [identity, count] of countRows(before)) if (count > (after.get(identity) ?? 0)) reduced.add(identity)
      for (const [name, rows] of before)
        for (const row of rows) if (!after.has(nameOf(name, row))) removed.set(nameOf(name, row), { row, isDue: false })
      for (const identity of after.keys()) removed.delete(identity)
    },
    /** Whether the service has ever withdrawn a row. */
    hasRemovals: () => reduced.size > 0,
    beforeRun: async (): Promise<StateBefore> => {
      const readTo = latest
      latest = Math.max(latest, now())
      const marked = countRows(await readTables(true))
      return { truth: readTruth(), marked, known: countKnown(await readTables()), readTo }
    },
    afterRun: async (before: StateBefore, facts: RunFacts) => {
      const { end, isLie, scope } = facts
      const mayMark = isLie && lies > 0
      if (isLie) lies++
      latest = Math.max(latest, now())
      const stable = readStable(before)
      const [present, expected] = [countRows(await readTables(false)), countRows(stable)]
      for (const [identity, count] of mayMark ? [] : countRows(await readTables(true)))
        if (count > (before.marked.get(identity) ?? 0) && (present.get(identity) ?? 0) < (expected.get(identity) ?? 0))
          throw new Error(`marked as removed, but existed all along: ${identity}`)
      const tables = await readTables()
      const known = countKnown(tables)
      for (const [column, count] of before.known)
        if (count - (known.get(column) ?? 0) >= 20)
          throw new Error(`overwritten with nothing: ${column} of ${count} rows`)
      for (const [identity, count] of countRows(tables, toTheMinute)) {
        const most = mostRows.get(identity) ?? 0
        if (count > most) throw new Error(`${count} rows where the service never had more than ${most}: ${identity}`)
      }
      if (lies <= 1) await requireAgreed(account, stable)
      if (end.code !== 0 || isLie) return
      const since = Math.min(before.readTo, now()) - (scope.lookback ?? lookbackDays) * DAY + 2 * MINUTE
      await requireStable(before, facts, lies > 0 || facts.hasMore ? since : Number.NEGATIVE_INFINITY)
      for (const entry of removed.values()) if (isInScope(entry.row, scope, since)) entry.isDue = true
    },
    /** Requires that what a run got right is still right, except for rows that have changed since. */
    requireStill: async (before: StateBefore, facts: RunFacts) => {
      if (facts.end.code === 0) await requireStable(before, facts, now() - lookbackDays * DAY + 2 * MINUTE)
    },
    /**
     * For a green run of a service that never lies and does not change behind the lookback: the tables have nothing
     * else if the world stood still, and they have visitors that moved in the list meanwhile.
     */
    requireExact: async ({ truth }: StateBefore) => {
      for (const [name, rows] of readTruth()) {
        const present = await readPresent(name)
        const earlier = truth.get(name) ?? []
        const { common, extra } = compareRows(rows, earlier, toText)
        const toName = (row: TruthRow) => nameOf(name, row)
        if (name === 'visitors') requirePresent(name, compareRows(rows, earlier, toName).common, present, toName)
        const isStill = extra.length === 0 && common.length === earlier.length
        const others = compareRows(present, rows, toText).extra.filter((row) => !reduced.has(toName(row)))
        if (isStill) requireNone(name, 'too many', others, rows)
      }
    },
    isEqual: async (): Promise<boolean> => {
      for (const [name, rows] of readTruth()) {
        const soFar = (each: readonly TruthRow[]) => each.filter((row) => !isYounger(row, now()))
        const [truth, present] = [soFar(rows), soFar(await readPresent(name))]
        if (truth.length !== present.length || compareRows(truth, present, toText).extra.length > 0) return false
      }
      return true
    },
    atRest: async () => {
      for (const [name, rows] of readTruth()) {
        const present = await readPresent(name)
        const missing = compareRows(rows, present, toText).extra
        if (missing.length > (lies > 0 ? await countQuarantined(account, name) : 0))
          requireNone(name, 'missing', missing, present)
        const isMarked =
          findStream(name)?.marksRemoved === true && (emulator.switches.largestTotal ?? rows.length) >= rows.length
        const partitions = new Set(rows.map(partitionOf))
        const mayLinger = (row: TruthRow) => {
          const entry = removed.get(nameOf(name, row))
          return entry !== undefined && !(entry.isDue && isMarked && partitions.has(partitionOf(row)))
        }
        const extra = compareRows(present, rows, toText).extra.filter((row) => !mayLinger(row))
        requireNone(name, 'too many', extra, rows)
      }
    },
  }
}

/** Requires that ranges that this run calls agreed have every row that existed meanwhile, by identity to the minute. */
async function requireAgreed({ database: { db } }: LawAccount, stable: Rows): Promise<void> {
  for (const [name, expected] of stable) {
    const { rows } = await sql<{ channel: string; type: string | null; lower: number; upper: number }>`
      select substring(partition from 'channel=([^/]+)') as channel, substring(partition from 'type=([^/]+)') as type,
        extract(epoch from lower(covers))::float as lower, extract(epoch from upper(covers))::float as upper
      from livehouse_ops.slices where stream = ${name} and proof = 'agreed' and status = 'landed' and covers is not null
        and run_id = (select max(run_id) from livehouse_ops.runs)`.execute(db)
    const isAgreed = (row: TruthRow) =>
      rows.some(
        ({ channel, type, lower, upper }) =>
          channel === row.channel_id &&
          (type ?? row.gift_type) === row.gift_type &&
          timeOf(row) >= lower &&
          timeOf(row) < upper,
      )
    const agreed = expected.filter(isAgreed)
    const toName = (row: TruthRow) => toTheMinute(nameOf(name, row))
    if (agreed.length > 0) requirePresent(name, agreed, await readStreamTable(db, name), toName)
  }
}

async function countQuarantined({ database: { db } }: LawAccount, name: string): Promise<number> {
  const { rows } = await sql<{ n: string }>`select count(*) as n from livehouse_ops.quarantine
    where stream = ${name} and resolved_at is null`.execute(db)
  return Number(rows[0]?.n)
}

function countKnown(tables: Rows): Counts {
  const known = [...tables].flatMap(([name, rows]) =>
    rows.flatMap(({ channel_id, ...row }) =>
      Object.entries(row).flatMap(([column, value]) =>
        value === null ? [] : [`${JSON.stringify(channel_id)} ${name}.${column}`],
      ),
    ),
  )
  return countTexts(known)
}

/** Whether a run reads this row: by its channels, by its history, and by age. */
function isInScope(row: TruthRow, { channels, from }: RunScope, since: WallTime): boolean {
  const { channel_id } = row
  const isOfChannels = typeof channel_id !== 'string' || channels.includes(channel_id)
  return isOfChannels && timeOf(row) >= Math.max(since, Date.parse(from) / 1000)
}

function partitionOf({ channel_id, gift_type, question_id }: TruthRow): string {
  return JSON.stringify([channel_id, gift_type, question_id])
}
