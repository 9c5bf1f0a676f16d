import type { IncomingMessage } from 'node:http'
import type { OperatorActions } from '../app/operator-actions.ts'
import { DAY, parseWallTime } from '../core/wall-clock.ts'
import type { RangeToForget } from '../ledger/slices/forget-coverage.ts'
import { findStream, streamNames } from '../streams/registry.ts'
import { type Access, readForm } from './access.ts'
import { fill, type Messages } from './messages.ts'
import { type Reply, redirectReply } from './reply.ts'

/** What actions need. `problem` makes a page that says why nothing was done. */
interface ActionDeps {
  readonly access: Access
  readonly actions: OperatorActions
  readonly messages: Messages
  readonly problem: (status: number, text: string) => Reply
}

/** Performs the action of a form and redirects to the run that records it; undefined for a path that is no action. */
export async function answerAction(
  { access, actions, messages, problem }: ActionDeps,
  request: IncomingMessage,
  path: string,
): Promise<Reply | undefined> {
  const name = /^\/actions\/(run|cancel|retry|reopen)$/.exec(path)?.[1]
  if (name === undefined) return undefined
  const words = messages.actions
  const form = await readForm(request)
  if (form === undefined || !access.isOurForm(request.headers, form.get('csrf') ?? ''))
    return problem(403, words.notOurs)
  const askedBy = `status page, from ${request.socket.remoteAddress}`
  if (name === 'run') {
    const job = form.get('job') ?? ''
    const result = await actions.runJob(job, askedBy)
    if (result === 'queued') return redirectReply(`/runs?queued=${encodeURIComponent(job)}`)
    const [status, reason] = result === 'none' ? [404, words.noJob] : [409, words.jobRunning]
    return problem(status, fill(words.refused, { reason: fill(reason, { job }) }))
  }
  if (name === 'cancel') {
    const runId = form.get('run') ?? ''
    const isCancelled = /^\d{1,18}$/.test(runId) && (await actions.cancelRun(runId, askedBy))
    return isCancelled ? redirectReply(runPath(runId)) : problem(409, fill(words.refused, { reason: words.isOver }))
  }
  if (name === 'retry') return redirectReply(runPath(await actions.retryQuarantine(askedBy)))
  const range = readRange(form)
  if (range === undefined) return problem(400, fill(words.refused, { reason: words.badRange }))
  return redirectReply(runPath(await actions.reopen(range, askedBy)))
}

function runPath(runId: string | null): string {
  return runId === null ? '/runs' : `/runs/${runId}`
}

/** Reads a range of whole days, the last included; undefined if a field is invalid or the stream has no time filter. */
function readRange(form: URLSearchParams): RangeToForget | undefined {
  const stream = streamNames.find((name) => name === form.get('stream'))
  const channelId = form.get('channel') ?? ''
  const readDay = (text: string) => (text.length === 10 ? parseWallTime(text) : undefined)
  const [from, last] = [readDay(form.get('from') ?? ''), readDay(form.get('to') ?? '')]
  if (stream === undefined || findStream(stream)?.isTimeFiltered !== true || channelId === '') return undefined
  if (from === undefined || last === undefined || from > last) return undefined
  return { streams: [stream], channels: [channelId], window: { from, to: last + DAY } }
}
