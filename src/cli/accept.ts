import type { Kysely } from 'kysely'
import { openWarehouse } from '../app/open-warehouse.ts'
import { readDatabaseSettings, readSettings } from '../config.ts'
import type { Stream } from '../core/stream.ts'
import { DAY } from '../core/wall-clock.ts'
import type { Database } from '../store/database.ts'
import { readAcceptances, recordAcceptance, withdrawAcceptance } from '../ledger/acceptances.ts'
import { acceptMissingFields } from '../ledger/known-fields.ts'
import { readShortfalls } from '../ledger/open-readings.ts'
import { readSource } from '../ledger/source.ts'
import { allStreams, findStream } from '../streams/registry.ts'
import { acceptanceObject, describeAcceptance, describeAcceptances } from './accept/report.ts'
import type { CliContext } from './command.ts'
import { namesOf, readInteger, readStreams } from './flags.ts'
import { printResult } from './format.ts'
import { defineCommand } from './usage.ts'
import { type Refuse, wrongUse } from './wrong-use.ts'

/** Long enough to ask the service's support, short enough not to be forgotten. */
const DEFAULT_DAYS = 30
const MOST_DAYS = 3650

/** `livehouse accept`: shortfalls that an operator acknowledges. */
export const accept = defineCommand(
  {
    verb: 'accept',
    about: `Acknowledges a shortfall that status or ledger shows as short: fewer rows than the service says there are, or suddenly fewer than
before. Up to its size it no longer makes runs partial. It is shown as accepted wherever proofs are shown, never as verified. A
larger shortfall is short again, and so is this one when its days are over or it is withdrawn. Asks the database alone.

It holds for all partitions of the channel (both types of gifts, all questionnaires) together, and for a stream with times for
the ranges that fell short. Rows without an id (gifts, signups) of a reading that fell short land with the next sync. A later
acceptance takes the place of an earlier one whose ranges it holds.

Where a sync fails since a field that it knew is in none of the items any more (interface.changed), the same command lets it go
on: what is known of that field is then overwritten with nothing, and it is expected again only once it is back.`,
    actions: {
      accept: 'acknowledges what is short (the default)',
      list: 'every acceptance: range, size, what the last run has taken of it, until when, why',
      withdraw: 'takes the one of this NUMBER back: the next sync reads it again, and says what is missing',
    },
    defaultAction: 'accept',
    words: '[NUMBER]',
    flags: {
      stream: ['S', `the stream; one of ${namesOf(allStreams)}`, 'accept'],
      channel: ['C', 'the channel; not for managers and manager_usage, which belong to the account', 'accept'],
      reason: ['TEXT', 'why, for those who read it later', 'accept'],
      days: ['N', `for how long, ${MOST_DAYS} at most (default: ${DEFAULT_DAYS})`, 'accept'],
      json:
        'prints one JSON object instead: {"accepted": ACCEPTANCE or null, "fields": [NAME]}, {"acceptances": [ACCEPTANCE]} of list ' +
        'or {"withdrawn": NUMBER}; an ACCEPTANCE is {"number", "stream", "channel", "ranges": [{"from", "to"}], "missing_rows", ' +
        '"last_taken_rows", "state", "reason", "accepted_at", "expires_at"}',
    },
    notes:
      'Exit codes: 0 done, 1 the database cannot be reached, 2 wrong use, also where there is no shortfall to accept.',
    examples: `livehouse accept --stream visitors --channel 10001589 --reason 'two ghosts, ticket 4711'
livehouse accept --stream signups --channel 10001589 --reason 'deleted by the organiser' --days 365
livehouse accept list
livehouse accept withdraw 3`,
  },
  ({ action, values, words: [given] }, refuse) => {
    if (action !== 'withdraw' && given !== undefined) refuse(`there is no place for ${JSON.stringify(given)}`)
    if (action === 'withdraw' && given === undefined)
      refuse('withdraw needs the number of an acceptance, see accept list')
    const number = action === 'withdraw' ? readInteger('NUMBER', given, refuse) : undefined
    const request = action === 'accept' ? readRequest(values, refuse) : undefined
    return { action, number: String(number), request, isJson: values.json }
  },
  async (context, { action, number, request, isJson }) => {
    if (request !== undefined) return await acceptShortfalls(context, request, isJson)
    return action === 'list' ? await list(context, isJson) : await withdraw(context, number, isJson)
  },
)

interface Request {
  readonly stream: Stream
  readonly channelId: string | null
  readonly reason: string
  readonly days: number
}

function readRequest(
  values: Readonly<Record<'stream' | 'channel' | 'reason' | 'days', string | undefined>>,
  refuse: Refuse,
): Request | undefined {
  const reason = values.reason?.trim() ?? ''
  if (reason === '') refuse('--reason is missing; it should say why, for those who read it later')
  const days = readInteger('--days', values.days, refuse, MOST_DAYS) ?? DEFAULT_DAYS
  const stream = readStream(values.stream, refuse)
  const needsChannel = stream !== undefined && stream.partitionedBy !== 'account'
  if (needsChannel && !values.channel) refuse(`--channel is missing; ${stream.name} are those of a channel`)
  if (stream?.partitionedBy === 'account' && values.channel !== undefined)
    refuse(`--channel: ${stream.name} belongs to the account, not to a channel`)
  return stream && { stream, channelId: needsChannel ? (values.channel ?? '') : null, reason, days }
}

function readStream(given: string | undefined, refuse: Refuse): Stream | undefined {
  const names = readStreams(given, refuse, '--stream')
  if (names === undefined || names.length > 1) refuse('--stream should be one stream')
  const [name] = names ?? []
  const stream = name && findStream(name)
  return stream || undefined
}

async function acceptShortfalls(
  context: CliContext,
  { stream, channelId, reason, days }: Request,
  isJson: boolean,
): Promise<number> {
  await using db = await open(context)
  const nowMs = context.clock.now()
  const [acceptedAt, expiresAt] = [new Date(nowMs), new Date(nowMs + days * DAY * 1000)]
  const shortfalls = await readShortfalls(db, stream.name, channelId)
  const place = channelId === null ? stream.name : `${stream.name} channel=${channelId}`
  const fields = await acceptMissingFields(db, { stream: stream.name, channelId, reason, at: acceptedAt })
  if (fields.length > 0 && !isJson) context.print(`accepted: ${place} goes on without ${fields.join(', ')}: ${reason}`)
  if (fields.length > 0 && shortfalls.length === 0) {
    if (isJson) context.print(JSON.stringify({ accepted: null, fields }))
    return 0
  }
  if (shortfalls.length === 0)
    throw wrongUse(
      'accept',
      `${place} has no shortfall to accept: livehouse status and livehouse ledger show what is short`,
    )
  const unsized = shortfalls.find(({ missingRows }) => missingRows === undefined)
  if (unsized)
    throw wrongUse(
      'accept',
      `${place}: how many rows are missing is not known; livehouse sync reads it again and keeps it`,
    )

  const isKeyed = stream.identity === undefined
  const wanted = { stream: stream.name, channelId, shortfalls, reason, acceptedAt, expiresAt, isKeyed }
  const acceptanceId = await recordAcceptance(db, wanted)
  const acceptance = (await readAcceptances(db)).find((each) => each.acceptanceId === acceptanceId)
  if (acceptance === undefined) return 0
  const time = { nowMs, timeZone: await readZone(db) }
  printResult(context, isJson, { accepted: acceptanceObject(acceptance, nowMs), fields }, [
    `accepted (${acceptanceId}): ${describeAcceptance(acceptance, time)}`,
    ...(isKeyed ? [] : ['The rows that did come land with the next livehouse sync.']),
  ])
  return 0
}

async function list(context: CliContext, isJson: boolean): Promise<number> {
  await using db = await open(context)
  const acceptances = await readAcceptances(db)
  const time = { nowMs: context.clock.now(), timeZone: await readZone(db) }
  const result = { acceptances: acceptances.map((each) => acceptanceObject(each, time.nowMs)) }
  printResult(context, isJson, result, describeAcceptances(acceptances, time))
  return 0
}

async function withdraw(context: CliContext, number: string, isJson: boolean): Promise<number> {
  await using db = await open(context)
  const isWithdrawn = await withdrawAcceptance(db, number, new Date(context.clock.now()))
  if (!isWithdrawn) throw wrongUse('accept', `no acceptance ${number} stands, see livehouse accept list`)
  const line = `withdrawn (${number}): the next livehouse sync reads it again`
  printResult(context, isJson, { withdrawn: number }, [line])
  return 0
}

async function open(context: CliContext): Promise<Kysely<Database> & AsyncDisposable> {
  const settings = readSettings(context.environment, readDatabaseSettings)
  return await openWarehouse(context, { settings, source: undefined })
}

/** Before the first sync there is no zone, and nothing to show in it. */
async function readZone(db: Kysely<Database>): Promise<string> {
  return (await readSource(db))?.timeZone ?? 'UTC'
}
