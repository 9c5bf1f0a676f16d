import type { SourceFact } from '../../core/source-fact.ts'
import { formatWallDate } from '../../core/wall-clock.ts'
import { countOf, textOf, timeOf } from './fields.ts'
import type { Questioner } from './questioner.ts'

/** Finds the time that version 1 of the watch records holds rows of, as far as its first page shows. One of the day's ten calls. */
export async function findV1History({ ask }: Pick<Questioner, 'ask'>, channelId: string): Promise<SourceFact> {
  const fact = (answer: string | null, evidence: string): SourceFact => ({
    topic: 'v1_history',
    subject: 'userRecords',
    answer,
    evidence,
  })
  const reply = await ask({ list: { endpoint: 'userRecords', channelId, filterWatchTime: 0 }, pageSize: 100 })
  if (reply.kind !== 'page') return fact(null, reply.reason)
  const { items } = reply.page
  const times = items.map((item) => timeOf(item, 'first_login_time')).filter((time) => time !== undefined)
  const withAssignId = items.filter((item) => textOf(item, 'assign_id') !== undefined).length
  const evidence = `channel ${channelId}: page 1 held ${countOf(items.length)}, ${withAssignId} of them with assign_id`
  if (times.length === 0) return fact(null, evidence)
  const [oldest, newest] = [Math.min(...times), Math.max(...times)]
  return fact(`${formatWallDate(oldest)} to ${formatWallDate(newest)}`, evidence)
}
