import type { Kysely } from 'kysely'
import { readDatabaseSettings, readSettings } from '../config.ts'
import { LivehouseError } from '../core/errors.ts'
import type { Stream } from '../core/stream.ts'
import { DAY } from '../core/wall-clock.ts'
import type { Database } from '../db/database.ts'
import { recordAcceptance, withdrawAcceptance } from '../state/acceptances.ts'
import { acceptMissingFields } from '../state/known-fields.ts'
import { readAcceptances } from '../state/read-acceptances.ts'
import { readShortfalls } from '../state/shortfalls.ts'
import { readSource } from '../state/source.ts'
import { allStreams, findStream } from '../streams/registry.ts'
import { acceptanceObject, describeAcceptance, describeAcceptances } from './accept/report.ts'
import { checkUsage, parseArguments, type Refuse } from './arguments.ts'
import { chooseAction } from './choose-action.ts'
import type { CliContext, Command } from './command.ts'
import { readPositiveInteger, readStreams } from './flags.ts'
import { openWarehouse } from './warehouse.ts'

/** Long enough to ask the service's support, short enough not to be forgotten. */
const DEFAULT_DAYS = 30
const MOST_DAYS = 3650

const help = `livehouse accept --stream S --channel C --reason TEXT [--days N] [--json]
livehouse accept list [--json]
livehouse accept withdraw NUMBER [--json]

Acknowledges a shortfall that status or ledger shows as short: fewer rows than the service says there are, or suddenly fewer than
before. Up to its size it no longer makes runs partial. It is shown as accepted wherever proofs are shown, never as verified. A
larger shortfall is short again, and so is this one when its days are over or it is withdrawn. Asks the database alone.

It holds for all partitions of the channel (both types of gifts, all questionnaires) together, and for a stream with times for
the ranges that fell short. Rows without an id (gifts, signups) of a reading that fell short land with the next sync. A later
acceptance takes the place of an earlier one whose ranges it holds.

Where a sync fails since a field that it knew is in none of the items any more (interface.changed), the same command lets it go
on: what is known of that field is then overwritten with nothing, and it is expected again only once it is back.

list      every acceptance: range, size, what the last run has taken of it, until when, why
withdraw  takes one back: the next sync reads it again, and says what is missing

Flags:
  --stream S      the stream; one of ${allStreams.map(({ name }) => name).join(', ')}
  --channel C     the channel; not for managers and manager_usage, which belong to the account
  --reason TEXT   why, for those who read it later
  --days N        for how long, ${MOST_DAYS} at most (default: ${DEFAULT_DAYS})
  --json          prints one JSON object instead: {"accepted": ACCEPTANCE or null, "fields": [NAME]},
                  {"acceptances": [ACCEPTANCE]} of list or
                  {"withdrawn": NUMBER}; an ACCEPTANCE is {"number", "stream", "channel", "ranges": [{"from", "to"}],
                  "missing_rows", "last_taken_rows", "state", "reason", "accepted_at", "expires_at"}

Exit codes: 0 done, 1 the database cannot be reached, 2 wrong use, also where there is no shortfall to accept.

Examples:
  livehouse accept --stream visitors --channel 10001589 --reason 'two ghosts, ticket 4711'
  livehouse accept --stream signups --channel 10001589 --reason 'deleted by the organiser' --days 365
  livehouse accept list
  livehouse accept withdraw 3`

const options = {
  stream: { type: 'string' },
  channel: { type: 'string' },
  reason: { type: 'string' },
  days: { type: 'string' },
  json: { type: 'boolean' },
} as const

/** `livehouse accept`: shortfalls that an operator acknowledges. */
export const accept: Command = {
  help,
  run: async (context, argv) => {
    const { values, positionals } = parseArguments('accept', argv, options, 2)
    const [word, given] = positionals
    const action = word === undefined ? 'accept' : chooseAction('accept', word, ['list', 'withdraw'])
    const isJson = values.json ?? false
    if (action === 'accept') return await acceptShortfalls(context, readRequest(values), isJson)

    const number = checkUsage('accept', (refuse) => {
      for (const flag of ['stream', 'channel', 'reason', 'days'] as const)
        if (values[flag] !== undefined) refuse(`--${flag} does not belong to ${action}`)
      if (action === 'list' && given !== undefined) refuse(`there is no place for ${JSON.stringify(given)}`)
      if (action === 'withdraw' && given === undefined)
        refuse('withdraw needs the number of an acceptance, see accept list')
      return readPositiveInteger('NUMBER', given, refuse)
    })
    return action === 'list' ? await list(context, isJson) : await withdraw(context, String(number), isJson)
  },
}

interface Request {
  readonly stream: Stream
  readonly channelId: string | null
  readonly reason: string
  readonly days: number
}

function readRequest(values: Readonly<Partial<Record<'stream' | 'channel' | 'reason' | 'days', string>>>): Request {
  const request = checkUsage('accept', (refuse) => {
    const reason = values.reason?.trim() ?? ''
    if (reason === '') refuse('--reason is missing; it should say why, for those who read it later')
    const days = readPositiveInteger('--days', values.days, refuse, MOST_DAYS) ?? DEFAULT_DAYS
    const stream = readStream(values.stream, refuse)
    const needsChannel = stream !== undefined && stream.partitionedBy !== 'account'
    if (needsChannel && !values.channel) refuse(`--channel is missing; ${stream.name} are those of a channel`)
    if (stream?.partitionedBy === 'account' && values.channel !== undefined)
      refuse(`--channel: ${stream.name} belongs to the account, not to a channel`)
    return stream && { stream, channelId: needsChannel ? (values.channel ?? '') : null, reason, days }
  })
  return request ?? refuseUse('--stream is missing')
}

function readStream(given: string | undefined, refuse: Refuse): Stream | undefined {
  const names = readStreams(given, refuse, '--stream')
  if (names === undefined || names.length > 1) refuse('--stream should be one stream')
  const [name] = names ?? []
  const stream = name && findStream(name)
  return stream || undefined
}

/** What only the database shows to be wrong use. */
function refuseUse(problem: string): never {
  throw new LivehouseError('usage.invalid', 'wrong use, see livehouse accept --help', { problems: [problem] })
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
    refuseUse(`${place} has no shortfall to accept: livehouse status and livehouse ledger show what is short`)
  const unsized = shortfalls.find(({ missingRows }) => missingRows === undefined)
  if (unsized) refuseUse(`${place}: how many rows are missing is not known; livehouse sync reads it again and keeps it`)

  const isKeyed = stream.identity === undefined
  const wanted = { stream: stream.name, channelId, shortfalls, reason, acceptedAt, expiresAt, isKeyed }
  const acceptanceId = await recordAcceptance(db, wanted)
  const acceptance = (await readAcceptances(db)).find((each) => each.acceptanceId === acceptanceId)
  if (acceptance === undefined) return 0
  const time = { nowMs, timeZone: await readZone(db) }
  if (isJson) context.print(JSON.stringify({ accepted: acceptanceObject(acceptance, nowMs), fields }))
  else {
    context.print(`accepted (${acceptanceId}): ${describeAcceptance(acceptance, time)}`)
    if (!isKeyed) context.print('The rows that did come land with the next livehouse sync.')
  }
  return 0
}

async function list(context: CliContext, isJson: boolean): Promise<number> {
  await using db = await open(context)
  const acceptances = await readAcceptances(db)
  const time = { nowMs: context.clock.now(), timeZone: await readZone(db) }
  if (isJson)
    context.print(JSON.stringify({ acceptances: acceptances.map((each) => acceptanceObject(each, time.nowMs)) }))
  else for (const line of describeAcceptances(acceptances, time)) context.print(line)
  return 0
}

async function withdraw(context: CliContext, number: string, isJson: boolean): Promise<number> {
  await using db = await open(context)
  const isWithdrawn = await withdrawAcceptance(db, number, new Date(context.clock.now()))
  if (!isWithdrawn) refuseUse(`no acceptance ${number} stands, see livehouse accept list`)
  context.print(
    isJson ? JSON.stringify({ withdrawn: number }) : `withdrawn (${number}): the next livehouse sync reads it again`,
  )
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
