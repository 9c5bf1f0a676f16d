import { type Kysely, sql } from 'kysely'
import type { Database } from '../../../src/store/database.ts'
import type { Emulator } from '../../../src/emulator/server.ts'
import type { TruthRow } from '../../../src/emulator/truth.ts'
import { findStream } from '../../../src/streams/registry.ts'
import { canonical, readStreamTable } from '../read-table.ts'
import { identityOf, SETTLE, timesOf } from './model-world.ts'

/** What the world held before a run, and who had been marked removed. */
interface Before {
  readonly truth: ReadonlyMap<string, ReadonlySet<string>>
  /** What its rows are the same by. */
  readonly ids: ReadonlyMap<string, ReadonlySet<string>>
  readonly marked: ReadonlyMap<string, ReadonlySet<string>>
}

export interface ModelProof {
  readonly beforeChange: () => void
  /** @param removedAt when a row was taken out of the world */
  readonly afterChange: (removedAt: Date | undefined) => void
  readonly hasRemovals: () => boolean
  readonly beforeRun: () => Promise<Before>
  readonly afterRun: (before: Before, run: { readonly isOk: boolean; readonly begunAt: number }) => Promise<void>
  /**
   * What is gone from before `lookbackFrom` may never be missed, and an empty answer never says that rows are gone.
   * @param since the first run since the world rests
   */
  readonly atRest: (lookbackFrom: Date, since: Date) => Promise<void>
}

/** Holds the tables against the truth, and knows which rows may linger: those that the world has given up. */
export function createModelProof(db: Kysely<Database>, emulator: Emulator, names: readonly string[]): ModelProof {
  /** Rows that were there once, by what they are the same by. */
  const gone = new Map<string, Set<string>>(names.map((name) => [name, new Set()]))
  let before: ReadonlyMap<string, readonly TruthRow[]> = new Map()
  const readTruth = () => new Map(names.map((name) => [name, emulator.truth()[name] ?? []]))
  const keysOf = (rows: readonly TruthRow[]) => new Set(rows.map(textOf))
  const readMarked = async (name: string) =>
    findStream(name)?.marksRemoved ? await readStreamTable(db, name, { isRemoved: true }) : []
  const readPresent = async (name: string) =>
    await readStreamTable(db, name, findStream(name)?.marksRemoved ? { isRemoved: false } : {})

  return {
    beforeChange: () => {
      before = readTruth()
    },
    afterChange: (removedAt) => {
      if (removedAt === undefined) return
      for (const [name, rows] of readTruth()) {
        const left = keysOf(rows)
        for (const row of before.get(name) ?? []) if (!left.has(textOf(row))) gone.get(name)?.add(identityOf(name, row))
      }
    },
    hasRemovals: () => [...gone.values()].some(({ size }) => size > 0),
    beforeRun: async () => ({
      truth: new Map([...readTruth()].map(([name, rows]) => [name, keysOf(rows)])),
      ids: new Map([...readTruth()].map(([name, rows]) => [name, new Set(rows.map((row) => identityOf(name, row)))])),
      marked: new Map(
        await Promise.all(
          names.map(async (name) => [name, new Set((await readMarked(name)).map(nameOf(name)))] as const),
        ),
      ),
    }),
    afterRun: async ({ truth, ids, marked }, { isOk, begunAt }) => {
      for (const [name, rows] of readTruth()) {
        const there = rows.filter((row) => truth.get(name)?.has(textOf(row)))
        const markedNow = new Set((await readMarked(name)).map(nameOf(name)))
        for (const row of there) {
          const key = nameOf(name)(row)
          if (markedNow.has(key) && !marked.get(name)?.has(key))
            throw new Error(`marked removed, and there all along: ${name} ${textOf(row)}`)
        }
        if (!isOk) continue
        const present = await readPresent(name)
        // Where the world changed meanwhile, what stood still; of young rows without an id nothing is claimed before all is at rest.
        const isUnkeyed = findStream(name)?.identity !== undefined
        const isClaimed = (row: TruthRow) => !isUnkeyed || timesOf(row).every((at) => at < begunAt - SETTLE * 1000)
        requireThere(name, there.filter(isClaimed), present)
        // A visitor who jumped meanwhile is there all the same, with what is known of the time before or after.
        if (name === 'visitors')
          requireIdentities(
            name,
            rows.filter((row) => ids.get(name)?.has(identityOf(name, row))),
            present,
          )
        const isStill = there.length === rows.length && truth.get(name)?.size === keysOf(rows).size
        if (isStill) requireNoMore(name, rows, present, (row) => gone.get(name)?.has(identityOf(name, row)) ?? false)
      }
    },
    atRest: async (lookbackFrom, since) => {
      for (const [name, rows] of readTruth()) {
        const present = await readPresent(name)
        requireThere(name, rows, present)
        const isInEmptyAnswer = await readEmptyAnswers(db, name, since)
        const mayLinger = (row: TruthRow) =>
          (gone.get(name)?.has(identityOf(name, row)) ?? false) &&
          (!findStream(name)?.marksRemoved || timeOf(row) < lookbackFrom.getTime() || isInEmptyAnswer(row))
        requireNoMore(name, rows, present, mayLinger)
      }
    },
  }
}

/** Whether a row belongs to a slice that brought nothing at all. */
async function readEmptyAnswers(db: Kysely<Database>, name: string, since: Date): Promise<(row: TruthRow) => boolean> {
  const { rows } = await sql<{ partition: string; lower: Date | null; upper: Date | null }>`
    select partition, lower(reads) at time zone 'Asia/Shanghai' as lower, upper(reads) at time zone 'Asia/Shanghai' as upper
    from livehouse_ops.slices
    where stream = ${name} and started_at >= ${since} and distinct_rows = 0`.execute(db)
  return (row) =>
    rows.some(({ partition, lower, upper }) => {
      const isOfPartition = typeof row.gift_type !== 'string' || partition.endsWith(`type=${row.gift_type}`)
      if (!isOfPartition || lower === null || upper === null) return isOfPartition
      return timeOf(row) >= lower.getTime() && timeOf(row) < upper.getTime()
    })
}

function requireThere(name: string, expected: readonly TruthRow[], present: readonly TruthRow[]): void {
  const held = new Set(present.map(textOf))
  const missing = expected.filter((row) => !held.has(textOf(row)))
  if (missing.length === 0) return
  const other = present.filter((row) => identityOf(name, row) === identityOf(name, missing[0] ?? {}))
  throw new Error(
    `${missing.length} rows of ${name} are missing: ${textOf(missing[0] ?? {})}; held: ${other.map(textOf).join()}`,
  )
}

function requireIdentities(name: string, expected: readonly TruthRow[], present: readonly TruthRow[]): void {
  const held = new Set(present.map((row) => identityOf(name, row)))
  const missing = expected.find((row) => !held.has(identityOf(name, row)))
  if (missing) throw new Error(`a row of ${name} is missing altogether: ${textOf(missing)}`)
}

function requireNoMore(
  name: string,
  expected: readonly TruthRow[],
  present: readonly TruthRow[],
  mayLinger: (row: TruthRow) => boolean,
): void {
  const truth = new Set(expected.map(textOf))
  const extra = present.filter((row) => !truth.has(textOf(row)) && !mayLinger(row))
  if (extra.length > 0) throw new Error(`${extra.length} rows of ${name} are there too many: ${textOf(extra[0] ?? {})}`)
}

function nameOf(stream: string): (row: TruthRow) => string {
  return (row) => `${identityOf(stream, row)}#${JSON.stringify(row.occurrence)}`
}

function timeOf(row: TruthRow): number {
  return timesOf(row)[0] ?? Number.POSITIVE_INFINITY
}

/** A row as text, its fields in an order of their own. */
function textOf(row: TruthRow): string {
  return JSON.stringify(canonical(row))
}
