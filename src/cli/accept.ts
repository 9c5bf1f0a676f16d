import assert from 'node:assert/strict'
import { openWarehouse } from '../app/open-warehouse.ts'
import { acceptShortfalls } from '../app/operator-actions.ts'
import { readDatabaseSettings, readSettings } from '../config.ts'
import { wrongUse } from '../core/errors.ts'
import { DAY } from '../core/wall-clock.ts'
import { allStreams } from '../streams/registry.ts'
import { describeAcceptance } from './describe-acceptance.ts'
import { namesOf, readInteger, readStreams } from './flags.ts'
import { defineCommand } from './usage.ts'

/** Long enough to ask the service's support, short enough not to be forgotten. */
const DEFAULT_DAYS = 30
const MAX_DAYS = 3650

export const accept = defineCommand(
  {
    about: `Acknowledges a shortfall that status or ledger shows, up to its size: it no longer makes runs partial, and
is shown as accepted. This covers all partitions of the channel, in the ranges that fell short. If a sync stopped
because a field is no longer delivered (interface.changed), the same command lets it go on. Needs only the database.`,
    flags: {
      stream: ['S', `the stream; one of ${namesOf(allStreams)}`],
      channel: ['C', 'the channel; not for managers and manager_usage, which belong to the account'],
      reason: ['TEXT', 'why, for those who read it later'],
      days: ['N', `for how long, ${MAX_DAYS} at most (default: ${DEFAULT_DAYS})`],
    },
    notes: 'Exit codes: 0 done, 1 the database cannot be reached, 2 wrong use, also if there is nothing to accept.',
    examples: `livehouse accept --stream visitors --channel 10001589 --reason 'two ghosts, ticket 4711'
livehouse accept --stream signups --channel 10001589 --reason 'deleted by the organiser' --days 365`,
  },
  ({ values: { stream: given, channel, reason = '', days } }, refuse) => {
    if (reason.trim() === '') refuse('--reason is missing; it should say why, for those who read it later')
    const [stream, ...others] = readStreams(given, refuse, '--stream') ?? []
    if (stream === undefined || others.length > 0) refuse('--stream should be one stream')
    const isOfAccount = stream?.partitionedBy === 'account'
    if (stream && !isOfAccount && channel === undefined)
      refuse(`--channel is missing; ${stream.name} belongs to a channel`)
    if (isOfAccount && channel !== undefined)
      refuse(`--channel: ${stream.name} belongs to the account, not to a channel`)
    return {
      stream,
      channelId: channel ?? null,
      reason: reason.trim(),
      days: readInteger('--days', days, refuse, MAX_DAYS) ?? DEFAULT_DAYS,
    }
  },
  async (context, { stream, channelId, reason, days }) => {
    assert(stream)
    await using db = await openWarehouse(context, readSettings(context.environment, readDatabaseSettings))
    const nowMs = context.clock.now()
    const [acceptedAt, expiresAt] = [new Date(nowMs), new Date(nowMs + days * DAY * 1000)]
    const accepted = await acceptShortfalls(db, { stream, channelId, reason, acceptedAt, expiresAt })
    const { fields, failure, acceptance } = accepted
    const place = channelId === null ? stream.name : `${stream.name} channel=${channelId}`
    if (fields.length > 0) context.print(`accepted: ${place} goes on without ${fields.join(', ')}: ${reason}`)
    if (failure === 'size unknown') {
      const next = 'livehouse sync reads it again; only the service can correct a total that is too small'
      throw wrongUse(`${place}: the number of missing rows is not known; ${next}`)
    }
    if (failure !== undefined && fields.length === 0)
      throw wrongUse(`${place} has no shortfall to accept: livehouse status and livehouse ledger show what is short`)
    if (acceptance === undefined) return 0
    context.print(`accepted (${acceptance.acceptanceId}): ${describeAcceptance(acceptance, accepted.timeZone)}`)
    if (!accepted.isKeyed) context.print('The rows that did come land with the next livehouse sync.')
    return 0
  },
)
