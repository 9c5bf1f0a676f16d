import { randomBytes } from 'node:crypto'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { openConnection } from '../app/open-connection.ts'
import { openSharedDatabase } from '../app/open-database.ts'
import type { DatabaseSettings, ServiceSettings } from '../app/settings.ts'
import { readDatabaseSettings, readServiceSettings, readSettings } from '../config.ts'
import { readChannelsIfAny } from '../config/read-channels.ts'
import { reasonOf } from '../config/setting-source.ts'
import { LivehouseError, recoveryFrom } from '../core/errors.ts'
import type { Page } from '../core/page.ts'
import type { Partition } from '../core/slice.ts'
import type { Stream } from '../core/stream.ts'
import type { Exchange } from '../service/read-answer.ts'
import { findStream, listOf, onlyWhenNamed, streams } from '../streams/registry.ts'
import { isObject } from '../transform/field.ts'
import { createDisguise, type Disguise, disguiseBody, parseAsWritten } from './capture/disguise.ts'
import type { CliContext } from './command.ts'
import { exitCodeOfStatus } from './failure.ts'
import { namesOf, readChosenChannels, readStreams } from './flags.ts'
import { defineCommand } from './usage.ts'
import { checkUsage, type Refuse, wrongUse } from './wrong-use.ts'

const captured = streams.filter(({ isBudgeted }) => isBudgeted !== true)

/** `livehouse capture`: answers without anybody's data. */
export const capture = defineCommand(
  {
    verb: 'capture',
    about: `Writes real answers of the service as files that can be shown to others: one a kind of list, with the request (without its token),
status, headers and the body. Structure, types, lengths, empty values and odd formats stay as they came. Names, phone numbers, ids,
addresses, IP addresses, open ids, answers and every field that the documents do not name are replaced by made-up values of the same
shape, the same one for the same value in all files of one capture; which one stands for which is kept nowhere. Counts, times,
durations, amounts, kinds of devices, the names of fields and the service's own messages stay: look through the files before
you show them.

For bug reports, and as fixtures for tests. About nine small calls a channel, none on version 1 of the watch records.`,
    flags: {
      out: ['DIR', 'a folder that is not there yet, or empty'],
      streams: ['a,b', `only these (default: all); ${namesOf(captured)}`],
      channels: ['x,y', 'these channels of LIVEHOUSE_CHANNELS (default: the first)'],
    },
    notes: `Exit codes: 0 captured, also where the service answered with an error, 1 nothing could be captured, 2 a flag or a setting is
wrong, 3 some endpoint gave no answer.`,
    examples: `livehouse capture --out captured
livehouse capture --out captured --streams gifts --channels 10001589`,
  },
  ({ values }, refuse) => {
    if (values.out === undefined) refuse('--out is not given; it should be a folder for the files')
    return { values, out: resolve(values.out ?? '.'), chosen: chooseStreams(values.streams, refuse) }
  },
  async (context, { values, out, chosen }) => {
    const { service, database, configured } = readSettings(context.environment, (source) => ({
      service: readServiceSettings(source),
      database: source.isSet('DATABASE_URL') ? readDatabaseSettings(source) : undefined,
      configured: readChannelsIfAny(source),
    }))
    const channels = checkUsage('capture', (refuse) => {
      const named = readChosenChannels(values.channels, configured, refuse)
      if (named.length === 0 && chosen.every(({ partitionedBy }) => partitionedBy !== 'account')) {
        refuse('LIVEHOUSE_CHANNELS is not set, and these streams belong to channels')
      }
      return (values.channels === undefined ? named.slice(0, 1) : named).map(({ channelId }) => channelId)
    })
    await openFolder(out)
    const { answers, failures } = await captureAnswers(context, { service, database, streams: chosen, channels })
    const disguise = createDisguise(randomBytes(32))
    for (const { file, exchange } of answers) {
      const text = capturedAnswer(exchange, disguise, new Date(context.clock.now()))
      // Never over a file that is there: somebody may have looked through it.
      await writeFile(join(out, file), text, { flag: 'wx', mode: 0o600 })
      context.print(`${join(out, file)}  HTTP ${exchange.answer.status}`)
    }
    for (const message of failures) context.print(`✗ ${message}`)
    if (answers.length > 0) {
      context.remark('Look through the files before you send them. A name or number that you know is found with')
      context.remark(`  grep -rn 'TEXT' ${out}`)
    }
    return exitCodeOfStatus(failures.length > 0 ? 'partial' : 'ok')
  },
)

function chooseStreams(given: string | undefined, refuse: Refuse): readonly Stream[] {
  const names = readStreams(given, refuse)
  if (names?.some((name) => findStream(name)?.isBudgeted))
    refuse(`--streams: ${onlyWhenNamed} allows ten calls a day, none is spent on this`)
  return names === undefined ? captured : captured.filter(({ name }) => names.includes(name))
}

async function openFolder(out: string): Promise<void> {
  try {
    await mkdir(out, { recursive: true, mode: 0o700 })
    if ((await readdir(out)).length === 0) return
  } catch (error) {
    throw wrongUse('capture', `--out ${out}: the folder cannot be made or read (${reasonOf(error)})`)
  }
  throw wrongUse('capture', `--out ${out}: the folder is not empty, and nothing is overwritten; name another one`)
}

interface CaptureRequest {
  readonly service: ServiceSettings
  readonly database: DatabaseSettings | undefined
  readonly streams: readonly Stream[]
  readonly channels: readonly string[]
}

interface Captured {
  readonly answers: readonly { readonly file: string; readonly exchange: Exchange }[]
  /** Why an endpoint gave no answer. */
  readonly failures: readonly string[]
}

/** Enough to see what rows look like, few enough to look through. */
const ROWS = 20
/** Questionnaires that are tried for signups. */
const MOST_QUESTIONS = 3

/** Asks each list for a small first page and keeps what came on the wire, errors of the service too. */
async function captureAnswers(context: CliContext, request: CaptureRequest): Promise<Captured> {
  const { service, database, streams, channels } = request
  let last: Exchange | undefined
  const answers: Captured['answers'][number][] = []
  const failures: string[] = []
  await using shared = await openSharedDatabase(context, service, database)
  const onExchange = (exchange: Exchange): void => void (last = exchange)
  await using connection = openConnection(context, service, shared.db, { onExchange })

  const ask: Ask = async (stream, partition) => {
    last = undefined
    try {
      const paging = { page: 1, pageSize: Math.min(ROWS, stream.pageSize) }
      const list = { stream, partition }
      return { page: await connection.fetchPage({ list, ...paging }, context), exchange: last }
    } catch (error) {
      const isFinal = !(error instanceof LivehouseError) || recoveryFrom(error) === 'abort'
      if (isFinal || (last === undefined && answers.length === 0)) throw error
      if (last === undefined) failures.push(error.message)
      return { page: undefined, exchange: last }
    }
  }
  const keep = (file: string, { exchange }: Asked): void => {
    if (exchange !== undefined) answers.push({ file: `${file}.json`, exchange })
  }
  for (const stream of streams) {
    if (stream.partitionedBy === 'account') keep(nameOf(stream), await ask(stream, {}))
  }
  for (const [index, channel] of channels.entries()) {
    const suffix = index === 0 ? '' : `-${index + 1}`
    for (const stream of streams) {
      if (stream.partitionedBy === 'channel') keep(nameOf(stream) + suffix, await ask(stream, { channel }))
      if (stream.partitionedBy === 'channel/type') {
        for (const type of stream.types ?? [])
          keep(`${nameOf(stream)}-${type}${suffix}`, await ask(stream, { channel, type }))
      }
      if (stream.partitionedBy === 'channel/question') {
        const asked = await askForRows(ask, stream, channel)
        if (asked !== undefined) keep(nameOf(stream) + suffix, asked)
      }
    }
  }
  return { answers, failures }
}

interface Asked {
  readonly page: Page | undefined
  readonly exchange: Exchange | undefined
}

type Ask = (stream: Stream, partition: Partition) => Promise<Asked>

/** Signups of the first questionnaire that has some, or of the first one; undefined without any questionnaire. */
async function askForRows(ask: Ask, stream: Stream, channel: string): Promise<Asked | undefined> {
  const list = listOf(stream)
  const page = list && (await ask(list, { channel })).page
  const ids = (page?.items ?? []).map((item) => (isObject(item) ? item.question_id : undefined))
  let first: Asked | undefined
  for (const question of ids.filter((id) => typeof id === 'string').slice(0, MOST_QUESTIONS)) {
    const asked = await ask(stream, { channel, question })
    if ((asked.page?.items.length ?? 0) > 0) return asked
    first ??= asked
  }
  return first
}

/** `4.7-visitors`. */
function nameOf({ section, name }: Stream): string {
  return `${section}-${name}`
}

/** A real answer as it may be shown to others: its file's text. */
function capturedAnswer({ call, answer, elapsedMs }: Exchange, disguise: Disguise, capturedAt: Date): string {
  const { method, query, body } = call
  const request = { method, path: disguisePath(call, disguise), query, body: body && disguiseRequest(body, disguise) }
  const captured = {
    endpoint: call.endpoint,
    captured_at: capturedAt.toISOString(),
    request,
    answer: { status: answer.status, elapsed_ms: elapsedMs, ...headersOf(answer), ...bodyOf(answer, disguise) },
  }
  return `${JSON.stringify(captured, null, 2)}\n`
}

function disguisePath({ path, channelId }: Exchange['call'], disguise: Disguise): string {
  return channelId === undefined ? path : path.replace(`/${channelId}/`, `/${disguise(channelId)}/`)
}

/** What is sent are pages, times and kinds; only the questionnaire is somebody's. */
function disguiseRequest(
  body: Readonly<Record<string, unknown>>,
  disguise: Disguise,
): Readonly<Record<string, unknown>> {
  const { question_id: questionId } = body
  return typeof questionId === 'string' ? { ...body, question_id: disguise(questionId) } : body
}

const headersOfInterest = /^(content-(type|length|encoding)|transfer-encoding|date|retry-after|server|.*rate-?limit.*)$/

/** Headers that tell of the interface, and of all others the names alone. */
function headersOf({ headers }: Exchange['answer']): object {
  const shown = Object.entries(headers).filter(([name]) => headersOfInterest.test(name))
  const others = Object.keys(headers).filter((name) => !headersOfInterest.test(name))
  return { headers: Object.fromEntries(shown), other_headers: others.sort() }
}

function bodyOf({ text, contentType }: Exchange['answer'], disguise: Disguise): object {
  try {
    return { body: disguiseBody(parseAsWritten(text), disguise) }
  } catch {
    // What cannot be taken apart cannot be disguised.
    return { body_withheld: `no JSON: ${text.length} characters of ${contentType || 'no content type'}` }
  }
}
