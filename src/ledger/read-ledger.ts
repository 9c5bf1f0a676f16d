import { type Kysely, sql } from 'kysely'
import type { Proof, Window } from '../core/slice.ts'
import type { StreamName } from '../core/stream.ts'
import type { Database } from '../store/database.ts'
import type { WantedRange } from './coverage.ts'
import { formatRange, readBounds } from './wall-range.ts'

/** A reading that fell short or failed, and that no later one has made good. */
export interface OpenProblem {
  /** What it read; undefined for a walk over the whole list. */
  readonly window: Window | undefined
  readonly proof: Proof
  readonly reason: string | null
  readonly at: Date
}

/** A reading that fell short and was accepted; it counts as covered, and is not proven. */
export interface AcceptedPart {
  /** What it read; undefined for a walk over the whole list. */
  readonly window: Window | undefined
  /** The number of the acceptance. */
  readonly acceptanceId: string
  readonly missingRows: number
  /** The operator's. */
  readonly reason: string
  readonly expiresAt: Date
}

/** What the ledger holds of one partition, within what is wanted of it. */
export interface LedgerEntry {
  /** Within the wanted range, oldest first; none for a snapshot. */
  readonly covered: readonly Window[]
  readonly gaps: readonly Window[]
  /** The last reading that landed; undefined where none has. */
  readonly lastLanded: { readonly at: Date; readonly proof: Proof } | undefined
  /** The newest first. */
  readonly problems: readonly OpenProblem[]
  /** The newest first. */
  readonly accepted: readonly AcceptedPart[]
}

/** A partition, and what is wanted of it; undefined for a walk over the whole list. */
export interface LedgerQuestion {
  readonly partition: string
  readonly window: Window | undefined
}

/** What the ledger holds of partitions of one stream, by partition. Each is asked for once. */
export async function readLedger(
  db: Kysely<Database>,
  stream: StreamName,
  questions: readonly LedgerQuestion[],
): Promise<ReadonlyMap<string, LedgerEntry>> {
  const wanted = questions.flatMap(({ partition, window }) => (window === undefined ? [] : [{ partition, window }]))
  const [covered, landed, problems, accepted] = [
    await readRanges(db, stream, wanted),
    await readLastLanded(db, stream),
    await readProblems(db, stream, questions),
    await readAccepted(db, stream, questions),
  ]
  return new Map(
    questions.map(({ partition, window }) => [
      partition,
      {
        covered: covered.get(partition)?.covered ?? [],
        gaps: covered.get(partition)?.gaps ?? (window === undefined ? [] : [window]),
        lastLanded: landed.get(partition),
        problems: problems.get(partition) ?? [],
        accepted: accepted.get(partition) ?? [],
      },
    ]),
  )
}

async function readRanges(db: Kysely<Database>, stream: StreamName, wanted: readonly WantedRange[]) {
  const { rows } = await sql<{ partition: string; is_gap: boolean; lower: string; upper: string }>`
    with wanted as (
      select * from unnest(${wanted.map(({ partition }) => partition)}::text[],
        ${wanted.map(({ window }) => formatRange(window))}::tsrange[]) as w (partition, range)
    ),
    parts as (
      select partition, tsmultirange(range) as range, coalesce(covers, '{}') as ranges
      from wanted left join (select * from livehouse_ops.partition_states where stream = ${stream}) as state using (partition)
    )
    select partition, is_gap, lower(part)::text as lower, upper(part)::text as upper from (
      select partition, false as is_gap, unnest(range * ranges) as part from parts
      union all select partition, true, unnest(range - ranges) from parts
    ) as split order by partition, part`.execute(db)
  const windowsOf = (group: typeof rows, isGap: boolean) =>
    group.flatMap(({ is_gap, lower, upper }) => (is_gap === isGap ? (readBounds(lower, upper) ?? []) : []))
  return new Map(
    [...Map.groupBy(rows, ({ partition }) => partition)].map(([partition, group]) => [
      partition,
      { covered: windowsOf(group, false), gaps: windowsOf(group, true) },
    ]),
  )
}

async function readLastLanded(db: Kysely<Database>, stream: StreamName) {
  const { rows } = await sql<{ partition: string; at: Date; proof: Proof }>`
    select partition, landed_at as at, landed_proof as proof from livehouse_ops.latest_readings
    where stream = ${stream} and landed_at is not null`.execute(db)
  return new Map(rows.map(({ partition, at, proof }) => [partition, { at, proof }]))
}

async function readProblems(db: Kysely<Database>, stream: StreamName, questions: readonly LedgerQuestion[]) {
  const ranges = questions.map(({ window }) => (window === undefined ? null : formatRange(window)))
  const { rows } = await sql<BoundRow & Omit<OpenProblem, 'window'>>`
    with wanted as (
      select * from unnest(${questions.map(({ partition }) => partition)}::text[], ${ranges}::tsrange[]) as w (partition, range)
    )
    select partition, lower(reads)::text as lower, upper(reads)::text as upper, proof, error as reason, read_at as at
    from livehouse_ops.open_readings join wanted using (partition)
    where kind = 'problem' and stream = ${stream} and (reads is null or reads && range)
    order by partition, slice_id desc`.execute(db)
  return groupByPartition(rows)
}

interface BoundRow {
  readonly partition: string
  readonly lower: string | null
  readonly upper: string | null
}

function groupByPartition<T extends BoundRow>(rows: readonly T[]) {
  const found = rows.map(({ lower, upper, ...row }) => ({ ...row, window: readBounds(lower, upper) }))
  return Map.groupBy(found, ({ partition }) => partition)
}

async function readAccepted(db: Kysely<Database>, stream: StreamName, questions: readonly LedgerQuestion[]) {
  const ranges = questions.map(({ window }) => (window === undefined ? null : formatRange(window)))
  const { rows } = await sql<BoundRow & Omit<AcceptedPart, 'window'>>`
    with wanted as (
      select * from unnest(${questions.map(({ partition }) => partition)}::text[], ${ranges}::tsrange[]) as w (partition, range)
    )
    select partition, lower(reads)::text as lower, upper(reads)::text as upper, acceptance_id as "acceptanceId",
      coalesce(slice.missing_rows, acceptance.missing_rows)::float8 as "missingRows", reason, expires_at as "expiresAt"
    from livehouse_ops.open_readings as slice join wanted using (partition) join livehouse_ops.acceptances as acceptance
      using (acceptance_id)
    where kind = 'accepted' and slice.stream = ${stream} and (reads is null or reads && range)
    order by partition, slice_id desc`.execute(db)
  return groupByPartition(rows)
}
