import { factSubjects, type SourceFact } from '../../core/source-fact.ts'
import { countOf } from './fields.ts'

/** One answered call. */
export interface AnsweredCall {
  readonly endpoint: string
  readonly elapsedMs: number
  readonly status: number
  /** The header as written. */
  readonly retryAfter: string | undefined
}

/** What the calls themselves tell: how long each endpoint took, and whether a refused call said when to come again. */
export function factsOfCalls(calls: readonly AnsweredCall[]): readonly SourceFact[] {
  const byEndpoint = Map.groupBy(calls, ({ endpoint }) => endpoint)
  const times = factSubjects.flatMap((subject): readonly SourceFact[] => {
    const some = byEndpoint.get(subject)
    if (some === undefined) return []
    const sorted = some.map(({ elapsedMs }) => elapsedMs).toSorted((a, b) => a - b)
    const [median, longest] = [sorted[Math.floor((sorted.length - 1) / 2)] ?? 0, sorted.at(-1) ?? 0]
    const evidence = `${countOf(sorted.length, 'call')}, the longest ${longest} ms`
    return [{ topic: 'response_time', subject, answer: `${median} ms`, evidence }]
  })
  return [...times, retryAfter(calls)]
}

function retryAfter(calls: readonly AnsweredCall[]): SourceFact {
  const fact = (answer: string | null, evidence: string): SourceFact => ({
    topic: 'retry_after',
    subject: 'account',
    answer,
    evidence,
  })
  const refused = calls.filter(({ status }) => status === 429)
  if (refused.length === 0) return fact(null, `none of ${countOf(calls.length, 'call')} was refused for its rate`)
  const asked = refused.find(({ retryAfter: header }) => header !== undefined)
  const seen = `${countOf(refused.length, 'call')} of ${calls.length} refused for the rate`
  if (asked?.retryAfter === undefined) return fact('not sent', seen)
  const isSeconds = /^\s*\d+\s*$/.test(asked.retryAfter)
  return fact(isSeconds ? `${Number(asked.retryAfter)} s` : 'a date', seen)
}
