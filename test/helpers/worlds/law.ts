import { sql } from 'kysely'
import { DAY, MINUTE, type WallTime } from '../../../src/core/wall-clock.ts'
import type { TruthRow } from '../../../src/emulator/truth.ts'
import { findStream } from '../../../src/streams/registry.ts'
import { identityOf, SETTLE } from '../model/model-world.ts'
import { readStreamTable } from '../read-table.ts'
import type { Asked, Ended, WorldAccount } from './account.ts'
import { type Bag, bagOf, difference, intersect, type Precision, type Rows, textOf } from './bag.ts'
import { isHidden } from './furnish.ts'
import { describe, isYounger, requireAgreed, requireThere, timeOf } from './require-rows.ts'

export interface Before {
  readonly truth: Rows
  readonly marked: ReadonlyMap<string, ReadonlySet<string>>
  readonly known: ReadonlyMap<string, number>
  /** Nothing later was there when any earlier run read. */
  readonly readTo: WallTime
}

/** What happened in a run. */
export interface Happened {
  readonly asked: Asked
  readonly ended: Ended
  /** The service told in it what is not so. */
  readonly isLie: boolean
  /** Rows have changed behind the lookback, and no job has read them yet. */
  readonly hasMore: boolean
}

/**
 * The law that every scenario is held to. `isShuffled`: rows of one minute are in another order on each page.
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
export function createLaw(account: WorldAccount, lookbackDays: number, precision: Precision, isShuffled: boolean) {
  const { database, emulator, streams } = account
  const toText = (row: TruthRow) => textOf(row, precision)
  /** Rows that are there no more, and whether a green run could have seen it. */
  const gone = new Map<string, { readonly row: TruthRow; isDue: boolean }>()
  /** Of each identity, the most rows that the service has had at once. */
  const ever = new Map<string, number>()
  let lies = 0
  let latest: WallTime = Number.NEGATIVE_INFINITY

  const readTruth = (): Rows =>
    new Map(streams.map((name) => [name, (emulator.truth()[name] ?? []).filter((row) => !isHidden(row))]))
  const readPresent = async (name: string, isRemoved = false) =>
    findStream(name)?.marksRemoved
      ? await readStreamTable(database.db, name, { isRemoved })
      : isRemoved
        ? []
        : await readStreamTable(database.db, name)
  const readMarked = async () =>
    new Map(
      await Promise.all(
        streams.map(async (name) => [name, new Set((await readPresent(name, true)).map(toText))] as const),
      ),
    )
  const readKnown = async (): Promise<ReadonlyMap<string, number>> => {
    const known = new Map<string, number>()
    for (const name of streams)
      for (const row of await readStreamTable(database.db, name))
        for (const [column, value] of Object.entries(row))
          if (value !== null) add(known, `${channelOf(row)} ${name}.${column}`)
    return known
  }

  const requireStable = async (before: Before, { asked, ended }: Happened, since: WallTime) => {
    for (const [name, rows] of readTruth()) {
      const stable = intersect(bagOf(before.truth.get(name) ?? [], toText), bagOf(rows, toText))
      const mayMove = isShuffled || findStream(name)?.identity !== undefined
      const wanted = [...stable.values()].filter(({ row }) => {
        const at = timeOf(row)
        const isInRange = at >= Math.max(since, parseDate(asked.from))
        const isDue = !isYounger(row, mayMove ? ended.begunAt - SETTLE : ended.begunAt)
        return isOfChannels(row, asked.channels) && isInRange && isDue
      })
      requireThere(name, wanted, bagOf(await readPresent(name), toText), toText)
    }
  }

  const remember = (truth: Rows): void => {
    for (const [identity, count] of countIdentities(truth)) ever.set(identity, Math.max(count, ever.get(identity) ?? 0))
  }
  remember(readTruth())
  const requireKnown = async (): Promise<void> => {
    const held = streams.map(
      async (name) => [name, [...(await readPresent(name)), ...(await readPresent(name, true))]] as const,
    )
    for (const [identity, count] of countIdentities(new Map(await Promise.all(held))))
      if (count > (ever.get(identity) ?? 0))
        throw new Error(`${count} rows where the service never had more than ${ever.get(identity) ?? 0}: ${identity}`)
  }

  return {
    /** Changes the world, and remembers what it has given up. */
    change: (act: () => void) => {
      const before = readTruth()
      act()
      const truth = readTruth()
      remember(truth)
      const left = new Set([...truth].flatMap(([name, rows]) => rows.map((row) => nameOf(name, row))))
      for (const [name, rows] of before)
        for (const row of rows) {
          const identity = nameOf(name, row)
          if (!left.has(identity)) gone.set(identity, { row, isDue: false })
        }
      for (const identity of left) gone.delete(identity)
    },
    beforeRun: async (): Promise<Before> => {
      const readTo = latest
      latest = Math.max(latest, account.now())
      return { truth: readTruth(), marked: await readMarked(), known: await readKnown(), readTo }
    },
    afterRun: async (before: Before, happened: Happened) => {
      const { ended, isLie, asked } = happened
      const hadLies = lies > 0
      if (isLie) lies++
      const behind = (asked.lookback ?? lookbackDays) * DAY
      const truth = readTruth()
      const marked = await readMarked()
      if (!isLie || !hadLies) {
        for (const [name, rows] of truth) {
          const there = intersect(bagOf(before.truth.get(name) ?? [], toText), bagOf(rows, toText))
          const present = bagOf(await readPresent(name), toText)
          const isLacking = (text: string) => (present.get(text)?.count ?? 0) < (there.get(text)?.count ?? 0)
          for (const text of marked.get(name) ?? [])
            if (isLacking(text) && !before.marked.get(name)?.has(text) && !isTwice(name, there, text))
              throw new Error(`marked as removed, and there all along: ${name} ${text}`)
        }
      }
      const known = await readKnown()
      for (const [column, count] of before.known)
        if (count - (known.get(column) ?? 0) >= 20)
          throw new Error(`overwritten with nothing: ${column} of ${count} rows`)
      await requireKnown()
      latest = Math.max(latest, account.now())
      if (lies <= 1) await requireAgreed(account, before.truth, truth, toText)
      if (ended.code !== 0 || isLie) return
      const since = Math.min(before.readTo, account.now()) - behind + 2 * MINUTE
      await requireStable(before, happened, lies > 0 || happened.hasMore ? since : Number.NEGATIVE_INFINITY)
      for (const entry of gone.values())
        if (isOfChannels(entry.row, asked.channels) && timeOf(entry.row) >= Math.max(since, parseDate(asked.from)))
          entry.isDue = true
    },
    /** What a run had right is so still, of what has not changed since. */
    requireStill: async (before: Before, happened: Happened) => {
      if (happened.ended.code === 0)
        await requireStable(before, happened, account.now() - lookbackDays * DAY + 2 * MINUTE)
    },
    isEqual: async (): Promise<boolean> => {
      for (const [name, rows] of readTruth()) {
        const bagSoFar = (each: readonly TruthRow[]) =>
          bagOf(
            each.filter((row) => !isYounger(row, account.now())),
            toText,
          )
        const [truth, present] = [bagSoFar(rows), bagSoFar(await readPresent(name))]
        if (difference(truth, present).length > 0 || difference(present, truth).length > 0) return false
      }
      return true
    },
    atRest: async () => {
      for (const [name, rows] of readTruth()) {
        const [truth, present] = [bagOf(rows, toText), bagOf(await readPresent(name), toText)]
        const waiting = await countWaiting(account, name)
        const missing = difference(truth, present)
        if (missing.length > waiting) throw new Error(describe(name, 'missing', missing, present, toText))
        const isEmpty = (row: TruthRow) => !rows.some((other) => partitionOf(other) === partitionOf(row))
        const extra = difference(present, truth).filter((row) => {
          const left = gone.get(nameOf(name, row))
          const isMarked =
            findStream(name)?.marksRemoved === true && (emulator.switches.largestTotal ?? rows.length) >= rows.length
          const mayLinger = left !== undefined && (!left.isDue || isEmpty(row) || !isMarked)
          return !mayLinger
        })
        if (extra.length > 0) throw new Error(describe(name, 'too many', extra, truth, toText))
      }
    },
  }
}

async function countWaiting({ database }: WorldAccount, name: string): Promise<number> {
  const { rows } = await sql<{ n: string }>`select count(*) as n from livehouse_ops.quarantine
    where stream = ${name} and resolved_at is null`.execute(database.db)
  return Number(rows[0]?.n)
}

/** One of several equal rows may have gone. */
function isTwice(name: string, bag: Bag, text: string): boolean {
  const row = bag.get(text)?.row
  return (
    row !== undefined &&
    [...bag.values()].filter((each) => identityOf(name, each.row) === identityOf(name, row)).length > 1
  )
}

function countIdentities(rows: Rows): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const [name, each] of rows)
    for (const row of each) add(counts, nameOf(name, row).replaceAll(/(T\d\d:\d\d):\d\dZ/g, '$1'))
  return counts
}

function add(counts: Map<string, number>, key: string): void {
  counts.set(key, 1 + (counts.get(key) ?? 0))
}

function isOfChannels({ channel_id }: TruthRow, channels: readonly string[]): boolean {
  return typeof channel_id !== 'string' || channels.includes(channel_id)
}

function partitionOf({ channel_id, gift_type, question_id }: TruthRow): string {
  return JSON.stringify([channel_id, gift_type, question_id])
}

function parseDate(date: string): WallTime {
  return Date.parse(date) / 1000
}

function channelOf({ channel_id }: TruthRow): string {
  return typeof channel_id === 'string' ? channel_id : ''
}

/** What a row is the same by. */
function nameOf(name: string, row: TruthRow): string {
  return `${name} ${channelOf(row)} ${identityOf(name, row)}`
}
