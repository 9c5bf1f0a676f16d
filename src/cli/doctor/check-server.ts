import type { Kysely } from 'kysely'
import type { DatabaseSettings } from '../../config.ts'
import type { Database } from '../../db/database.ts'
import { readSize } from '../../db/read-size.ts'
import { readZone } from '../../db/read-zone.ts'
import type { CliContext } from '../command.ts'
import { failed, type ReportCheck } from './check.ts'
import { checkDisk, describeServerDisk } from './check-disk.ts'
import { instantsToCompare, judgeZone } from './check-zone.ts'

/** What the server itself is like: zones and room. `timeZone`: undefined where the settings lack. */
export async function checkServer(
  { clock, signal }: CliContext,
  db: Kysely<Database>,
  { target, dataDir }: DatabaseSettings,
  timeZone: string | undefined,
  report: ReportCheck,
): Promise<void> {
  const nowMs = clock.now()
  try {
    if (timeZone !== undefined) {
      report(judgeZone(timeZone, await readZone(db, timeZone, instantsToCompare(nowMs)), nowMs))
    }
    const bytes = await readSize(db)
    report(target.kind === 'embedded' ? await checkDisk(dataDir, bytes) : describeServerDisk(bytes))
  } catch (error) {
    report(failed('server', error, signal))
  }
}
