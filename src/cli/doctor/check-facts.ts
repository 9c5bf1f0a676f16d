import type { KnownFact } from '../../core/source-fact.ts'
import { describeFact, subjectNames } from '../describe-fact.ts'
import { type Check, passed, skipped } from './check.ts'

/** What a probe has found: each answer, and of the unknown ones their number. */
export function checkFacts(facts: readonly KnownFact[]): readonly Check[] {
  if (facts.length === 0) return [skipped('probe', 'nothing is known of the service yet: `livehouse probe` asks it')]
  const known = facts.filter(({ answer }) => answer !== null)
  const newest = Math.max(...facts.map(({ foundAt }) => foundAt.getTime()))
  const asked = new Date(newest).toISOString().slice(0, 10)
  const [times, others] = [known.filter(isTime), known.filter((fact) => !isTime(fact))]
  const shown = times.map(({ subject, answer }) => `${sectionOf(subject)} ${answer}`).join(', ')
  return [
    passed('probe', `asked ${asked}: ${known.length} known, ${facts.length - known.length} unknown`),
    ...others.map(checkFact),
    ...(shown === '' ? [] : [passed('response_time', shown)]),
  ]
}

function isTime({ topic }: KnownFact): boolean {
  return topic === 'response_time'
}

function checkFact(fact: KnownFact): Check {
  const check = passed(`${fact.topic} ${sectionOf(fact.subject)}`.trim(), describeFact(fact))
  if (fact.topic !== 'zone' || fact.answer === 'fits') return check
  return {
    ...check,
    result: 'warning',
    seen: `${check.seen}: ${fact.evidence}`,
    mend: "ask the service's support for the zone of its times; LIVEHOUSE_TIMEZONE is fixed for a database",
  }
}

/** `4.7`; nothing for the account. */
function sectionOf(subject: KnownFact['subject']): string {
  return subject === 'account' ? '' : (subjectNames[subject].split(' ')[0] ?? subject)
}
