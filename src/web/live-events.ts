import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Clock } from '../core/clock.ts'
import { safeHeaders, send, textReply } from './reply.ts'
import { progressSection } from './render/verdict-section.ts'
import type { Messages } from './messages.ts'
import type { ProgressBoard } from '../app/progress-board.ts'

/** Keeps browsers informed of running jobs (server-sent events). */
export interface LiveEvents extends Disposable {
  readonly serve: (request: IncomingMessage, response: ServerResponse, messages: Messages) => void
}

/** So many windows may watch at once. */
const MOST_WATCHERS = 100
/** Between two pictures of the progress, however many pages arrive meanwhile. */
const PAUSE_MS = 500
/** A sign of life, so that a connection that is gone is noticed, and proxies keep one that is not. */
const ALIVE_MS = 25_000

/**
 * Sends the section of running jobs whenever it has changed, as JSON text of its markup, and `turn` when a job began or ended:
 * then all of the page is worth asking for again.
 */
export function createLiveEvents(board: Pick<ProgressBoard, 'jobs' | 'listen'>, clock: Clock): LiveEvents {
  const watchers = new Set<ServerResponse>()
  const closed = new AbortController()
  return {
    serve: (_, response, messages) => {
      if (watchers.size >= MOST_WATCHERS) return send(response, textReply(503, 'too many windows watch'), false)
      watchers.add(response)
      const gone = new AbortController()
      const signal = AbortSignal.any([gone.signal, closed.signal])
      response.once('close', () => {
        watchers.delete(response)
        gone.abort()
      })
      response.writeHead(200, {
        ...safeHeaders,
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-store',
        'x-accel-buffering': 'no',
      })
      response.write('retry: 3000\n\n')
      watch(response, messages, { board, clock, signal })
    },
    [Symbol.dispose]: () => {
      closed.abort()
      for (const response of watchers) response.end()
    },
  }
}

interface Watch {
  readonly board: Pick<ProgressBoard, 'jobs' | 'listen'>
  readonly clock: Clock
  readonly signal: AbortSignal
}

function watch(response: ServerResponse, messages: Messages, { board, clock, signal }: Watch): void {
  let isPausing = false
  let isChanged = false
  let isTurnDue = false
  let shown = ''
  const show = (): void => {
    // Who does not read gets the latest picture when it does, and none of those in between: they would pile up here.
    if (isPausing || response.writableNeedDrain) return
    if (isTurnDue) response.write('event: turn\ndata: \n\n')
    const markup = JSON.stringify(progressSection(messages, board.jobs(), undefined).toString())
    if (markup !== shown) response.write(`event: progress\ndata: ${markup}\n\n`)
    isTurnDue = false
    isChanged = false
    shown = markup
    isPausing = true
    void pause()
  }
  const pause = async (): Promise<void> => {
    await clock.sleep(PAUSE_MS, signal).catch(() => {})
    isPausing = false
    if (isChanged && !signal.aborted) show()
  }
  const end = board.listen((isTurn) => {
    isChanged = true
    isTurnDue ||= isTurn
    show()
  })
  response.on('drain', () => isChanged && show())
  signal.addEventListener('abort', end, { once: true })
  if (board.jobs().length > 0) show()
  void keepAlive(response, clock, signal)
}

/** Who has not read what was sent before the last sign of life is gone: a browser that is not asks again by itself. */
async function keepAlive(response: ServerResponse, clock: Clock, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await clock.sleep(ALIVE_MS, signal).catch(() => {})
    if (signal.aborted) return
    if (response.writableNeedDrain) response.destroy()
    else response.write(': alive\n\n')
  }
}
