import type { SourceFact } from '../../core/source-fact.ts'
import { countOf, textOf } from './fields.ts'

/** With fewer rows, always and never cannot be told from some. */
const FEWEST_ROWS = 10

/** Finds whether gifts carry `visitor_id`, which the spec lists and its sample lacks (API 2.10). */
export function findGiftVisitor(items: readonly unknown[] | undefined, missing: string): SourceFact {
  const fact = (answer: string | null, evidence: string): SourceFact => ({
    topic: 'gift_visitor',
    subject: 'giftRunning',
    answer,
    evidence,
  })
  if (items === undefined || items.length === 0) return fact(null, missing)
  const carrying = items.filter((item) => textOf(item, 'visitor_id') !== undefined).length
  const evidence = `${carrying} of ${countOf(items.length)} carry it`
  if (carrying > 0 && carrying < items.length) return fact('some', evidence)
  if (items.length < FEWEST_ROWS) return fact(null, `${evidence}: too few to tell`)
  return fact(carrying === 0 ? 'never' : 'always', evidence)
}
