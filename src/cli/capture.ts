import { randomBytes } from 'node:crypto'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { openConnection } from '../app/open-connection.ts'
import { openSharedDatabase } from '../app/open-database.ts'
import type { DatabaseSettings, ServiceSettings } from '../app/settings.ts'
import { readServiceAndAnyDatabase, readSettings } from '../config.ts'
import { readChannelsIfAny } from '../config/read-channels.ts'
import { reasonOf } from '../config/setting-source.ts'
import { LivehouseError, recoveryFrom } from '../core/errors.ts'
import type { Partition } from '../core/slice.ts'
import type { Stream } from '../core/stream.ts'
import type { Exchange } from '../service/read-answer.ts'
import { questionStreamOf, onlyWhenNamed, streams } from '../streams/registry.ts'
import { isObject } from '../core/text.ts'
import { createDisguise, type Disguise, disguiseBody, parseAsWritten } from './capture/disguise.ts'
import type { CliContext } from './command.ts'
import { exitCodes, wrongUse } from './failure.ts'
import { namesOf, readStreams } from './flags.ts'
import { defineCommand } from './usage.ts'

export const capture = defineCommand(
  {
    about: `Writes real answers of the service to files, for bug reports and tests, with one or two small calls
for each stream. Everything but the envelope is replaced by made-up values of the same shape. Look through the files
before you show them.`,
    flags: {
      out: ['DIR', 'a folder that is not there yet, or empty'],
      streams: ['a,b', `only these (default: all); ${namesOf(streams)}`],
    },
    notes: 'Exit codes: 0 captured, 1 nothing could be captured, 2 wrong use, 3 some endpoint gave no answer.',
    examples: `livehouse capture --out captured
LIVEHOUSE_CHANNELS=10001589 livehouse capture --out captured --streams gifts`,
  },
  ({ values }, refuse) => {
    const { out = '' } = values
    if (out === '') refuse('--out needs a value: a folder for the files')
    const chosen = readStreams(values.streams, refuse) ?? streams
    if (chosen.some(({ isBudgeted }) => isBudgeted))
      refuse(`--streams: ${onlyWhenNamed} allows ten calls a day, none is spent on this`)
    return { out: resolve(out), chosen }
  },
  async (context, { out, chosen }) => {
    const { service, database, configured } = readSettings(context.environment, (source) => ({
      ...readServiceAndAnyDatabase(source),
      configured: readChannelsIfAny(source),
    }))
    const channel = configured[0]?.channelId
    if (channel === undefined && chosen.every(({ partitionedBy }) => partitionedBy !== 'account'))
      throw wrongUse('LIVEHOUSE_CHANNELS is not set, and these streams belong to channels')
    await openFolder(out)
    const { answers, failures } = await captureAnswers(context, { service, database, streams: chosen, channel })
    const disguise = createDisguise(randomBytes(32))
    for (const { file, exchange } of answers) {
      const text = capturedAnswer(exchange, disguise, new Date(context.clock.now()))
      // Never over an existing file: somebody may already have reviewed it.
      await writeFile(join(out, file), text, { flag: 'wx', mode: 0o600 })
      context.print(`${join(out, file)}  HTTP ${exchange.answer.status}`)
    }
    for (const message of failures) context.print(`✗ ${message}`)
    return exitCodes[failures.length > 0 ? 'partial' : 'ok']
  },
)

async function openFolder(out: string): Promise<void> {
  try {
    await mkdir(out, { recursive: true, mode: 0o700 })
    if ((await readdir(out)).length === 0) return
  } catch (error) {
    throw wrongUse(`--out ${out}: the folder cannot be made or read (${reasonOf(error)})`)
  }
  throw wrongUse(`--out ${out}: the folder is not empty, and nothing is overwritten; name another one`)
}

interface CaptureRequest {
  readonly service: ServiceSettings
  readonly database: DatabaseSettings | undefined
  readonly streams: readonly Stream[]
  readonly channel: string | undefined
}

/** Enough to see what rows look like, few enough to look through. */
const ROWS = 20
/** Questionnaires that are tried for signups. */
const MOST_QUESTIONS = 3

/** Asks each list for a small first page, and keeps the answers as they came, errors of the service too. */
async function captureAnswers(context: CliContext, request: CaptureRequest) {
  const { service, database, channel } = request
  let last: Exchange | undefined
  const answers = new Map<string, Exchange>()
  const failures: string[] = []
  await using shared = await openSharedDatabase(context, service, database)
  const onExchange = (exchange: Exchange): void => void (last = exchange)
  await using connection = openConnection(context, service, shared, { onExchange })

  const ask = async (stream: Stream, partition: Partition): Promise<readonly unknown[]> => {
    last = undefined
    const file = [stream.section, stream.name, partition.type].filter((part) => part !== undefined).join('-')
    try {
      const paging = { page: 1, pageSize: Math.min(ROWS, stream.pageSize) }
      return (await connection.fetchPage({ list: { stream, partition }, ...paging }, context)).items
    } catch (error) {
      const isFinal = !(error instanceof LivehouseError) || recoveryFrom(error) === 'abort'
      if (isFinal || (last === undefined && answers.size === 0)) throw error
      if (last === undefined) failures.push(error.message)
      return []
    } finally {
      if (last !== undefined) answers.set(file, last)
    }
  }
  for (const stream of request.streams) {
    const list = questionStreamOf(stream)
    if (stream.partitionedBy === 'account') await ask(stream, {})
    else if (channel === undefined) continue
    else if (list === undefined)
      for (const type of stream.types ?? [undefined]) await ask(stream, { channel, ...(type && { type }) })
    else {
      const ids = (await ask(list, { channel })).map((item) => (isObject(item) ? item.question_id : undefined))
      for (const question of ids.filter((id) => typeof id === 'string').slice(0, MOST_QUESTIONS))
        if ((await ask(stream, { channel, question })).length > 0) break
    }
  }
  return { answers: [...answers].map(([file, exchange]) => ({ file: `${file}.json`, exchange })), failures }
}

/** The text of a file: an answer without anybody's data. */
function capturedAnswer({ call, answer, elapsedMs }: Exchange, disguise: Disguise, capturedAt: Date): string {
  const { method, query, channelId } = call
  // In a request only the ids of channel and questionnaire have to be hidden.
  const path = channelId === undefined ? call.path : call.path.replace(`/${channelId}/`, `/${disguise(channelId)}/`)
  const question = call.body?.question_id
  const body = typeof question === 'string' ? { ...call.body, question_id: disguise(question) } : call.body
  const headers = Object.entries(answer.headers).filter(([name]) => headersOfInterest.test(name))
  const captured = {
    endpoint: call.endpoint,
    captured_at: capturedAt.toISOString(),
    request: { method, path, query, body },
    answer: {
      status: answer.status,
      elapsed_ms: elapsedMs,
      headers: Object.fromEntries(headers),
      ...bodyOf(answer, disguise),
    },
  }
  return `${JSON.stringify(captured, null, 2)}\n`
}

const headersOfInterest = /^(content-(type|length|encoding)|transfer-encoding|date|retry-after|server|.*rate-?limit.*)$/

function bodyOf({ text, headers }: Exchange['answer'], disguise: Disguise): object {
  try {
    return { body: disguiseBody(parseAsWritten(text), disguise) }
  } catch {
    // What cannot be parsed cannot be disguised.
    return {
      body_withheld: `no JSON: ${text.length} characters of ${String(headers['content-type'] ?? 'no content type')}`,
    }
  }
}
