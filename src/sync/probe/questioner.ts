import { hasCode, LivehouseError, recoveryFrom } from '../../core/errors.ts'
import type { CallContext, ListRequest, Page, PageRequest } from '../../core/page.ts'
import type { Stream } from '../../core/stream.ts'

/** Asks the service exactly as told, without judging what it says. */
export type AskPage = (request: PageRequest, context: CallContext, place?: 'query' | 'body') => Promise<Page>

/** What came of one question. */
export type Reply =
  | { readonly kind: 'page'; readonly page: Page }
  /** The service says no to what was asked; half a sentence. */
  | { readonly kind: 'refused'; readonly reason: string }
  /** No answer, one that says nothing of what was asked, or not asked at all; half a sentence. */
  | { readonly kind: 'none'; readonly reason: string }

export interface Question {
  readonly list: ListRequest
  readonly pageSize: number
  readonly place?: 'query' | 'body'
}

export interface StreamCalls {
  readonly calls: number
  readonly retries: number
}

/** Asks question after question. */
export interface Questioner {
  readonly ask: (question: Question) => Promise<Reply>
  readonly calls: () => ReadonlyMap<Stream, StreamCalls>
  /** The first failure of each stream that gave no answer. */
  readonly failures: () => ReadonlyMap<Stream, LivehouseError>
}

export interface QuestionerOptions {
  readonly ask: AskPage
  readonly signal: AbortSignal
}

/** @throws from `ask`: what ends a run, such as `api.unauthorized`, and what shows that the service is out of reach. */
export function createQuestioner({ ask, signal }: QuestionerOptions): Questioner {
  const calls = new Map<Stream, StreamCalls>()
  const failures = new Map<Stream, LivehouseError>()
  let isReached = false

  const count = (stream: Stream, attempt: number): void => {
    const { calls: before, retries } = calls.get(stream) ?? { calls: 0, retries: 0 }
    calls.set(stream, { calls: before + 1, retries: retries + Number(attempt > 1) })
  }
  return {
    ask: async ({ list, pageSize, place }) => {
      const { stream } = list
      const earlier = failures.get(stream)
      if (hasCode(earlier, 'api.forbidden')) return { kind: 'none', reason: unanswered(earlier) }
      const onAttempt = (attempt: number): void => count(stream, attempt)
      try {
        const answer = await ask({ list, page: 1, pageSize }, { signal, onAttempt }, place)
        isReached = true
        return { kind: 'page', page: answer }
      } catch (error) {
        if (isRefusal(error)) {
          isReached = true
          return { kind: 'refused', reason: `refused with ${codeOf(error)}` }
        }
        const recovery = recoveryFrom(error)
        const isFinal = !(error instanceof LivehouseError) || (recovery === 'retry' && !isReached)
        if (isFinal || recovery === undefined || recovery === 'abort') throw error
        if (!failures.has(stream)) failures.set(stream, error)
        return { kind: 'none', reason: unanswered(error) }
      }
    },
    calls: () => calls,
    failures: () => failures,
  }
}

/** Without the service's own words: nobody knows what they hold. */
function unanswered(error: LivehouseError): string {
  return `no answer came (${hasCode(error, 'api.status') ? codeOf(error) : error.code})`
}

function codeOf(error: LivehouseError): string {
  if (hasCode(error, 'api.status')) return `HTTP status ${error.details.status}`
  return hasCode(error, 'api.refused') ? `code ${error.details.code}` : error.code
}

/** The request itself is what the service does not take: 4xx, or an error code. */
function isRefusal(error: unknown): error is LivehouseError {
  if (hasCode(error, 'api.status')) return error.details.status >= 400 && error.details.status < 500
  return hasCode(error, 'api.refused')
}
