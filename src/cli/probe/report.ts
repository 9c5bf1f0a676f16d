import { factTopics, type KnownFact } from '../../core/source-fact.ts'

const NAME_WIDTH = 20

/** What is known of the service, for a person: a line an answer with its evidence below, those that are unknown last. */
export function describeFacts(facts: readonly KnownFact[], since: Date): string[] {
  const describe = (fact: KnownFact): string[] => {
    const sign = fact.answer === null ? '–' : '✓'
    const before = fact.foundAt < since ? ` (found ${fact.foundAt.toISOString().slice(0, 10)})` : ''
    return [
      `${sign} ${fact.subject.padEnd(NAME_WIDTH)} ${factTopics[fact.topic]}: ${fact.answer ?? 'unknown'}${before}`,
      `${' '.repeat(NAME_WIDTH + 3)}${fact.evidence}`,
    ]
  }
  const known = facts.filter(({ answer }) => answer !== null)
  const unknown = facts.filter(({ answer }) => answer === null)
  return [...known, ...unknown].flatMap(describe)
}

/** The same for programs. */
export function factObject({ topic, subject, answer, evidence, foundAt }: KnownFact): object {
  return { topic, subject, answer, evidence, found_at: foundAt.toISOString() }
}
