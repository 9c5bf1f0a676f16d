import { randomBytes } from 'node:crypto'
import { LivehouseError, recoveryFrom } from '../../core/errors.ts'
import type { Partition } from '../../core/slice.ts'
import type { Stream } from '../../core/stream.ts'
import type { Exchange } from '../../service/read-answer.ts'
import { questionIdIn, questionStreamOf } from '../../streams/registry.ts'
import type { AppContext } from '../context.ts'
import { openConnection } from '../open-connection.ts'
import { openSharedDatabase } from '../open-database.ts'
import type { DatabaseSettings, ServiceSettings } from '../settings.ts'
import { createDisguise, type Disguise, disguiseBody, parseAsWritten } from './disguise.ts'

interface CaptureRequest {
  readonly service: ServiceSettings
  readonly database: DatabaseSettings | undefined
  readonly streams: readonly Stream[]
  readonly channel: string | undefined
}

/** Enough to see what rows look like, few enough to look through. */
const ROWS = 20
/** Questionnaires to try until one has signups. */
const MAX_QUESTIONS = 3

/** Asks for a small first page of each list. @returns the disguised answers, and failures without an answer */
export async function captureAnswers(context: AppContext, request: CaptureRequest) {
  const { service, database, channel } = request
  let last: Exchange | undefined
  const answers = new Map<string, { readonly exchange: Exchange; readonly partition: Partition }>()
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
      if (last !== undefined) answers.set(`${file}.json`, { exchange: last, partition })
    }
  }
  for (const stream of request.streams) {
    const list = questionStreamOf(stream)
    if (stream.partitionedBy === 'account') await ask(stream, {})
    else if (channel === undefined) continue
    else if (list === undefined)
      for (const type of stream.types ?? [undefined]) await ask(stream, { channel, ...(type && { type }) })
    else {
      const ids = (await ask(list, { channel })).flatMap((item) => questionIdIn(item, list) ?? [])
      for (const question of ids.slice(0, MAX_QUESTIONS))
        if ((await ask(stream, { channel, question })).length > 0) break
    }
  }
  const disguise = createDisguise(randomBytes(32))
  const capturedAt = new Date(context.clock.now())
  const files = [...answers].map(([file, { exchange, partition }]) => {
    return { file, status: exchange.answer.status, text: capturedAnswer(exchange, partition, disguise, capturedAt) }
  })
  return { answers: files, failures }
}

/** The text of a file: a request and its answer, without personal data. */
function capturedAnswer(
  { call, answer, elapsedMs }: Exchange,
  { question }: Partition,
  disguise: Disguise,
  capturedAt: Date,
): string {
  const { method, query, channelId } = call
  // The ids of the channel and the questionnaire are all that a request contains to be disguised.
  const path = channelId === undefined ? call.path : call.path.replace(`/${channelId}/`, `/${disguise(channelId)}/`)
  const hide = (value: unknown) => (question !== undefined && value === question ? disguise(question) : value)
  const body = call.body && Object.fromEntries(Object.entries(call.body).map(([name, value]) => [name, hide(value)]))
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
    // A body that cannot be parsed cannot be disguised.
    return {
      body_withheld: `not JSON: ${text.length} characters of ${String(headers['content-type'] ?? 'no content type')}`,
    }
  }
}
