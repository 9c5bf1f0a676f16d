import type { SourceFact } from '../core/source-fact.ts'
import { findListParams } from './probe/find-list-params.ts'
import { findZone, type ZoneQuestion } from './probe/find-zone.ts'
import { type AskPage, createQuestioner, type Questioner } from './probe/questioner.ts'

export interface ProbeDeps extends ZoneQuestion {
  readonly ask: AskPage
  readonly signal: AbortSignal
}

export interface ProbeResult {
  readonly facts: readonly SourceFact[]
  readonly calls: ReturnType<Questioner['calls']>
  /** Why an endpoint gave no answer. */
  readonly failures: ReturnType<Questioner['failures']>
}

/**
 * Finds out what the spec leaves open and a setting depends on, with at most eight calls that change nothing. What an answer
 * does not show is unknown, and the evidence says why.
 * @throws LivehouseError what ends a run, such as `api.unauthorized`
 */
export async function probe(deps: ProbeDeps): Promise<ProbeResult> {
  const questioner = createQuestioner(deps)
  const params = await findListParams(questioner, deps.streams)
  const zone = deps.channels.length === 0 ? [] : [await findZone(questioner, deps)]
  return { facts: [...zone, ...params], calls: questioner.calls(), failures: questioner.failures() }
}
