import type { Kysely } from 'kysely'
import { type Partition, partitionKey, type Window } from '../../core/slice.ts'
import type { Stream } from '../../core/stream.ts'
import { parseWallTime } from '../../core/wall-clock.ts'
import type { Database } from '../../store/database.ts'
import { readLedger } from '../../ledger/read-ledger.ts'
import { type PlannedChannel, partitionsOf, type QuestionsOf, wantedPartitions } from '../partitions.ts'

/** What is to be compared. */
export interface AuditScope {
  readonly channels: readonly PlannedChannel[]
  /** Undefined for all that is covered. */
  readonly window: Window | undefined
}

/** A partition to compare. */
export interface AuditTask {
  readonly stream: Stream
  readonly partition: Partition
  /** What is covered of what is asked for, oldest first; undefined for a list without a time filter. */
  readonly covered: readonly Window[] | undefined
  /** Whether a range was asked for: then a list that tells no total is read again. */
  readonly hasRange: boolean
}

const ALL_TIMES: Window = { from: parseWallTime('1000-01-01') ?? 0, to: parseWallTime('9999-12-31') ?? 0 }

/** Of lists with times what the ledger covers is compared: nothing else is claimed to be there. */
export async function planAudit(
  db: Kysely<Database>,
  streams: readonly Stream[],
  { channels, window }: AuditScope,
  questionsOf: QuestionsOf,
): Promise<readonly AuditTask[]> {
  const tasks: AuditTask[] = []
  const hasRange = window !== undefined
  for (const stream of streams) {
    if (!stream.isTimeFiltered) {
      const partitions = partitionsOf(stream, channels, questionsOf)
      tasks.push(...partitions.map(({ partition }) => ({ stream, partition, covered: undefined, hasRange })))
      continue
    }
    const wanted = wantedPartitions(stream, channels, questionsOf, window ?? ALL_TIMES)
    const ledger = await readLedger(db, stream.name, wanted)
    for (const { of } of wanted)
      tasks.push({ stream, partition: of, covered: ledger.get(partitionKey(of))?.covered ?? [], hasRange })
  }
  return tasks
}
