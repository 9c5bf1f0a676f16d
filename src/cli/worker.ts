import { openRunConnection } from '../app/open-connection.ts'
import { openWarehouse } from '../app/open-warehouse.ts'
import { readServiceAndDatabase, readSettings } from '../config.ts'
import { openQueue } from '../scheduler/open-queue.ts'
import { workOnPartitions } from '../scheduler/run-partition.ts'
import { readInteger } from './flags.ts'
import { defineCommand } from './usage.ts'

/** Partitions that a process reads at once by default. */
export const DEFAULT_CONCURRENCY = 8

export const worker = defineCommand(
  {
    about: `Reads queued partitions until Ctrl-C or SIGTERM: those of the jobs of livehouse serve, and of sync and
backfill with --queue. It needs the settings of the service and the database, but no job files or list of
channels. See docs/scaling.md.`,
    flags: { concurrency: ['N', `partitions side by side, 1 to 100 (default: ${DEFAULT_CONCURRENCY})`] },
    examples: `livehouse worker
livehouse worker --concurrency 16`,
  },
  ({ values }, refuse) => ({
    concurrency: readInteger('--concurrency', values.concurrency, refuse, 100) ?? DEFAULT_CONCURRENCY,
  }),
  async (context, { concurrency }) => {
    const { service, database } = readSettings(context.environment, readServiceAndDatabase)
    await using db = await openWarehouse(context, database, service)
    await using queue = await openQueue(context, database, false)
    await using connection = await openRunConnection(context, { service, database }, db)
    await workOnPartitions(context, { db, service, connection, queue, concurrency })
    return 0
  },
)
