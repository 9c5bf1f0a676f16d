import type { Row } from '../core/column.ts'
import { addCounts, type Counts, noCounts, type Place, parsePartition, placeOf } from '../core/slice.ts'
import type { Stream } from '../core/stream.ts'
import { floorToDay, formatWallDate, MINUTE, wallTimeAt } from '../core/wall-clock.ts'
import { isSuperseded, readWaitingItems, resolveItems, type WaitingItem } from '../ledger/quarantine/quarantine.ts'
import { forgetCoverage } from '../ledger/slices/forget-coverage.ts'
import { loadRows, prepareToLoad } from '../store/load/load.ts'
import { itemReader } from '../transform/read-item.ts'
import { quarantineConflicts } from './quarantine-conflicts.ts'
import type { RunDeps } from './slice-work.ts'
import { freshestOf, rowKey } from './walk.ts'
import { minuteOf } from './windows.ts'

interface RetryDeps extends Pick<RunDeps, 'db' | 'timeZone' | 'signal'> {
  readonly streams: readonly Stream[]
  /** Parses JSON text without losing digits. */
  readonly parse: (json: string) => unknown
  readonly now: () => number
}

/**
 * `streams`: by stream, how many items were tried (`extracted`), with the results. `unchanged`: the warehouse has an
 * equal or newer row with the key; `quarantined`: the item is still unreadable. `readAgain`: the places of rows without
 * an id, which the next sync reads again.
 */
export type RetryResult = Awaited<ReturnType<typeof retryQuarantine>>

/**
 * Reads quarantined items again with the current streams. Rows are committed with the resolution of their items.
 *
 * A row with a key is loaded as of the run that last received it. It never overwrites a row that this run or a later
 * one has written, nor, if a column tells which of two rows is fresher, an equally fresh one. The less fresh row of a
 * known duplicate is never loaded: it stays in quarantine, so that the next reading knows the key. So does a row whose
 * key belongs to another record of a higher version. A row without an id cannot be loaded alone, because its key
 * depends on all rows of its minute. Its minute is uncovered (for several on a day, the range from the first to the
 * last), so that the next sync reads it again.
 */
export async function retryQuarantine(deps: RetryDeps, names: readonly string[] | undefined) {
  const { db, timeZone, now, signal } = deps
  const streams = new Map<string, Counts>()
  const readAgain = new Map<string, Place>()
  const count = (stream: string, counts: Partial<Counts>) => {
    streams.set(stream, addCounts(streams.get(stream) ?? noCounts, counts))
  }

  for await (const page of readWaitingItems(db, names)) {
    signal.throwIfAborted()
    for (const { stream } of page.filter(isSuperseded)) count(stream, { extracted: 1, unchanged: 1 })
    const unread = page.filter((item) => !isSuperseded(item))
    const groups = Map.groupBy(unread, (item) =>
      JSON.stringify([item.stream, item.partition, item.runId, dayOf(item, timeZone)]),
    )
    const readings = [...groups.values()].flatMap((items) => {
      const reading = readGroup(items, deps)
      const stream = items[0]?.stream ?? ''
      count(stream, { extracted: items.length, quarantined: items.length - (reading?.items.length ?? 0) })
      return reading ?? []
    })
    for (const { stream, partition, items, rows } of readings) {
      if (!stream.identity || items.length === 0) continue
      const minutes = rows.flatMap((row) => minuteIn(stream, row, timeZone) ?? [])
      const place = placeOf({ stream, partition })
      for (const ofDay of Map.groupBy(minutes, floorToDay).values()) {
        const window = { from: Math.min(...ofDay), to: Math.max(...ofDay) + MINUTE }
        await forgetCoverage(db, { streams: [stream.name], channels: undefined, partition: place.partition, window })
      }
      readAgain.set(`${place.stream} ${place.partition}`, place)
    }
    await db.transaction().execute(async (trx) => {
      await prepareToLoad(trx, timeZone)
      for (const { stream, partition, items, rows, runId } of readings) {
        // The reading that brings these rows resolves their items.
        if (stream.identity) continue
        const seenAt = new Date(now())
        await resolveItems(trx, items, seenAt)
        await quarantineConflicts(trx, stream, partition, rows, { runId, seenAt, timeZone })
        // One row per key, because Postgres refuses equal keys in one statement.
        const heldRows = rows.map((row) => ({ row, raw: '' }))
        const byKey = Map.groupBy(heldRows, ({ row }) => rowKey(stream)(row))
        const { inserted, updated } = await loadRows(trx, stream, freshestOf(stream, byKey), runId, 'late')
        count(stream.name, { inserted, updated, unchanged: rows.length - inserted - updated })
      }
    })
  }
  return { streams, readAgain: [...readAgain.values()] }
}

/** Reads the items of one run, partition and day. Undefined if the stream or partition is unknown. */
function readGroup(items: readonly WaitingItem[], { streams, parse, timeZone }: RetryDeps) {
  const [first] = items
  const stream = streams.find(({ name }) => name === first?.stream)
  const partition = first && parsePartition(first.partition)
  if (first === undefined || stream === undefined || partition === undefined) return undefined
  const readItem = itemReader(stream, { partition, serviceDay: dayOf(first, timeZone) })
  const read = items.flatMap((item) => {
    // The headers of the page with the item.
    const title = item.headers === null ? undefined : parse(item.headers)
    const result = readItem(parse(item.raw), { title: Array.isArray(title) ? title : undefined })
    const isPlaced = result.kind === 'row' && (!stream.identity || minuteIn(stream, result.row, timeZone) !== undefined)
    return isPlaced ? [{ item, row: result.row }] : []
  })
  const rows = read.map(({ row }) => row)
  return { stream, partition, runId: first.runId, items: read.map(({ item }) => item), rows }
}

/** The minute of a row without an id; undefined if no range can hold its time, such as a year before 1000. */
function minuteIn({ identity }: Stream, row: Row, timeZone: string) {
  return minuteOf(row[identity?.timeColumn ?? ''], timeZone)
}

function dayOf({ lastSeenAt }: WaitingItem, timeZone: string): string {
  return formatWallDate(wallTimeAt(lastSeenAt.getTime(), timeZone))
}
