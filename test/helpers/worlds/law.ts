import { sql } from 'kysely'
import { DAY, MINUTE, type WallTime } from '../../../src/core/wall-clock.ts'
import type { TruthRow } from '../../../src/emulator/truth.ts'
import { findStream } from '../../../src/streams/registry.ts'
import { SETTLE } from '../model/model-world.ts'
import { readStreamTable } from '../read-table.ts'
import type { Asked, Ended, WorldAccount } from './account.ts'
import {
  compareRows,
  countRows,
  countTexts,
  isYounger,
  nameOf,
  type Precision,
  requireNone,
  requireThere,
  type Rows,
  textOf,
  timeOf,
  toTheMinute,
} from './compare-rows.ts'
import { isHidden } from './furnish.ts'

type Counts = ReadonlyMap<string, number>

export interface Before {
  readonly truth: Rows
  readonly marked: Counts
  readonly known: Counts
  /** Nothing later was there when any earlier run read. */
  readonly readTo: WallTime
}

/** What happened in a run. */
export interface Happened {
  readonly asked: Asked
  readonly ended: Pick<Ended, 'code' | 'begunAt'>
  /** The service told in it what is not so. */
  readonly isLie: boolean
  /** Rows have changed behind the lookback, and no job has read them yet. */
  readonly hasMore: boolean
}

type Played = Pick<WorldAccount, 'database' | 'emulator' | 'streams' | 'now'>

/**
 * The law that every scenario and every schedule of the model is held to. `isShuffled`: rows of one minute are in another order
 * on each page.
 *
 * 1. Never green and false. A run that exits 0 has every row in the tables, as the service has it, that was there while it ran and
 *    did not change, if it was asked for (its channel, its history, its lookback) and its times were over, by what the service's
 *    clock showed when the run began. Rows without an id, and rows whose order is another on each page, have to be older than
 *    settle: of younger ones nothing is claimed, and the last run at rest has them. Where the service lied in a run, that run is
 *    excused, and later ones for what lies behind their lookback, until the service has been honest and still again.
 * 2. An agreed range holds what the service has in it, also where one reading was lied to.
 * 3. Nobody is marked as removed who was there all along, unless two readings were lied to.
 * 4. A run overwrites no twenty known values of one channel with nothing.
 * 5. What one run has right, another that began earlier does not undo.
 * 6. A run that only met what passes is green.
 * 7. An audit that finds no difference has looked, and there is none; one that has reopened a range is not green again before
 *    the range has been read again.
 * 8. Nothing is lost or doubled: when the service is honest and still again, a few syncs an hour or more apart are green, and
 *    then the tables are the truth. What was withdrawn is marked as removed, if any green run could have seen it missing, by a
 *    total that is true.
 * 9. The tables never hold a row that the service never had, and none more often than it ever had it at once: by its identity,
 *    with times to the minute.
 */
export function createLaw(account: Played, lookbackDays: number, precision: Precision, isShuffled: boolean) {
  const { emulator, streams, now } = account
  const { db } = account.database
  const toText = (row: TruthRow) => textOf(row, precision)
  /** Rows that are there no more, and whether a green run could have seen it. */
  const gone = new Map<string, { readonly row: TruthRow; isDue: boolean }>()
  /** Identities that had more rows once. */
  const fewer = new Set<string>()
  /** Of each identity, to the minute, the most rows that the service has had at once. */
  const ever = new Map<string, number>()
  let lies = 0
  let latest: WallTime = Number.NEGATIVE_INFINITY

  const readTruth = (): Rows =>
    new Map(streams.map((name) => [name, (emulator.truth()[name] ?? []).filter((row) => !isHidden(row))]))
  /** What was there then, and is as it was. */
  const readStable = ({ truth }: Before): Rows =>
    new Map([...readTruth()].map(([name, rows]) => [name, compareRows(rows, truth.get(name) ?? [], toText).common]))
  const readPresent = async (name: string) => await readStreamTable(db, name, { isRemoved: false })
  const readTables = async (isRemoved?: boolean): Promise<Rows> => {
    const tables = streams.map(async (name) => [name, await readStreamTable(db, name, { isRemoved })] as const)
    return new Map(await Promise.all(tables))
  }
  const requireStable = async (before: Before, { asked, ended }: Happened, since: WallTime) => {
    for (const [name, rows] of readStable(before)) {
      const claimedTo = isShuffled || findStream(name)?.identity !== undefined ? ended.begunAt - SETTLE : ended.begunAt
      const wanted = rows.filter((row) => isAskedFor(row, asked, since) && !isYounger(row, claimedTo))
      requireThere(name, wanted, await readPresent(name), toText)
    }
  }
  const remember = (truth: Rows): void => {
    for (const [identity, count] of countRows(truth, toTheMinute))
      ever.set(identity, Math.max(count, ever.get(identity) ?? 0))
  }
  remember(readTruth())

  return {
    /** Changes the world, and remembers what it has given up. */
    change: (act: () => void) => {
      const before = readTruth()
      act()
      const truth = readTruth()
      remember(truth)
      const left = countRows(truth)
      for (const [identity, count] of countRows(before)) if (count > (left.get(identity) ?? 0)) fewer.add(identity)
      for (const [name, rows] of before)
        for (const row of rows) if (!left.has(nameOf(name, row))) gone.set(nameOf(name, row), { row, isDue: false })
      for (const identity of left.keys()) gone.delete(identity)
    },
    /** Whether the service has ever given a row up. */
    hasWithdrawn: () => fewer.size > 0,
    beforeRun: async (): Promise<Before> => {
      const readTo = latest
      latest = Math.max(latest, now())
      const marked = countRows(await readTables(true))
      return { truth: readTruth(), marked, known: countKnown(await readTables()), readTo }
    },
    afterRun: async (before: Before, happened: Happened) => {
      const { ended, isLie, asked } = happened
      const mayMark = isLie && lies > 0
      if (isLie) lies++
      latest = Math.max(latest, now())
      const stable = readStable(before)
      const [present, there] = [countRows(await readTables(false)), countRows(stable)]
      for (const [identity, count] of mayMark ? [] : countRows(await readTables(true)))
        if (count > (before.marked.get(identity) ?? 0) && (present.get(identity) ?? 0) < (there.get(identity) ?? 0))
          throw new Error(`marked as removed, and there all along: ${identity}`)
      const tables = await readTables()
      const known = countKnown(tables)
      for (const [column, count] of before.known)
        if (count - (known.get(column) ?? 0) >= 20)
          throw new Error(`overwritten with nothing: ${column} of ${count} rows`)
      for (const [identity, count] of countRows(tables, toTheMinute)) {
        const most = ever.get(identity) ?? 0
        if (count > most) throw new Error(`${count} rows where the service never had more than ${most}: ${identity}`)
      }
      if (lies <= 1) await requireAgreed(account, stable)
      if (ended.code !== 0 || isLie) return
      const since = Math.min(before.readTo, now()) - (asked.lookback ?? lookbackDays) * DAY + 2 * MINUTE
      await requireStable(before, happened, lies > 0 || happened.hasMore ? since : Number.NEGATIVE_INFINITY)
      for (const entry of gone.values()) if (isAskedFor(entry.row, asked, since)) entry.isDue = true
    },
    /** What a run had right is so still, of what has not changed since. */
    requireStill: async (before: Before, happened: Happened) => {
      if (happened.ended.code === 0) await requireStable(before, happened, now() - lookbackDays * DAY + 2 * MINUTE)
    },
    /**
     * After a green run, where the service never lies and nothing changes behind the lookback: the tables hold nothing else,
     * if the world stood still, and also who jumped meanwhile.
     */
    requireExact: async ({ truth }: Before) => {
      for (const [name, rows] of readTruth()) {
        const present = await readPresent(name)
        const earlier = truth.get(name) ?? []
        const { common, extra } = compareRows(rows, earlier, toText)
        const toName = (row: TruthRow) => nameOf(name, row)
        if (name === 'visitors') requireThere(name, compareRows(rows, earlier, toName).common, present, toName)
        const isStill = extra.length === 0 && common.length === earlier.length
        const others = compareRows(present, rows, toText).extra.filter((row) => !fewer.has(toName(row)))
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
        if (missing.length > (lies > 0 ? await countWaiting(account, name) : 0))
          requireNone(name, 'missing', missing, present)
        const isMarked =
          findStream(name)?.marksRemoved === true && (emulator.switches.largestTotal ?? rows.length) >= rows.length
        const partitions = new Set(rows.map(partitionOf))
        const mayLinger = (row: TruthRow) => {
          const left = gone.get(nameOf(name, row))
          return left !== undefined && !(left.isDue && isMarked && partitions.has(partitionOf(row)))
        }
        const extra = compareRows(present, rows, toText).extra.filter((row) => !mayLinger(row))
        requireNone(name, 'too many', extra, rows)
      }
    },
  }
}

/** What this run calls agreed holds every row that was there while it ran: by the minute and the identity, whatever else it lacks. */
async function requireAgreed({ database: { db } }: Played, stable: Rows): Promise<void> {
  for (const [name, there] of stable) {
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
    const agreed = there.filter(isAgreed)
    const toName = (row: TruthRow) => toTheMinute(nameOf(name, row))
    if (agreed.length > 0) requireThere(name, agreed, await readStreamTable(db, name), toName)
  }
}

async function countWaiting({ database: { db } }: Played, name: string): Promise<number> {
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

/** Whether its channel is, its history, and what is not older than this. */
function isAskedFor(row: TruthRow, { channels, from }: Asked, since: WallTime): boolean {
  const { channel_id } = row
  const isOfChannels = typeof channel_id !== 'string' || channels.includes(channel_id)
  return isOfChannels && timeOf(row) >= Math.max(since, Date.parse(from) / 1000)
}

function partitionOf({ channel_id, gift_type, question_id }: TruthRow): string {
  return JSON.stringify([channel_id, gift_type, question_id])
}
