import { isSameJson } from '../../core/is-same-json.ts'
import type { Page } from '../../core/page.ts'
import type { SourceFact } from '../../core/source-fact.ts'
import { countOf, textOf } from './fields.ts'

/** In fewer rows, or with fewer values, a field may be in order by chance. */
const FEWEST_ROWS = 10
const FEWEST_VALUES = 3

/** Finds what the visitor list is sorted by, and what `direction` does, from its first page in both directions. */
export function findVisitorOrder(
  desc: Page | undefined,
  asc: Page | undefined,
  missing: string,
): readonly SourceFact[] {
  const facts = (order: string | null, direction: string | null, evidence: string): readonly SourceFact[] => [
    { topic: 'visitor_order', subject: 'visitorList', answer: order, evidence },
    { topic: 'visitor_direction', subject: 'visitorList', answer: direction, evidence },
  ]
  if (desc === undefined || asc === undefined) return facts(null, null, missing)
  const seen = `the first ${countOf(desc.items.length)} with desc and ${asc.items.length} with asc`
  if (Math.min(desc.items.length, asc.items.length) < FEWEST_ROWS) return facts(null, null, `${seen}: too few to tell`)
  const sorted = fieldsOf(desc).flatMap((field) => {
    const way = wayOf(desc, asc, field)
    return way === undefined ? [] : [{ field, way }]
  })
  if (sorted.length === 0)
    return facts('none of the fields', wholeDirection(desc, asc), `${seen}: no field is in order`)
  const ways = new Set(sorted.map(({ way }) => way))
  const [way = null] = ways
  const names = sorted.map(({ field }) => field).join(', ')
  return facts(sorted.length === 1 ? names : null, ways.size === 1 ? way : null, `${seen}: in order by ${names}`)
}

/** Where nothing is in order, whole lists still show whether one is the other from behind. */
function wholeDirection(desc: Page, asc: Page): string | null {
  const ids = ({ items }: Page): readonly unknown[] => items.map((item) => textOf(item, 'user_id'))
  if (isSameJson(ids(desc), ids(asc))) return 'ignored'
  const isWhole = desc.total !== undefined && desc.total === desc.items.length
  return isWhole && isSameJson(ids(desc), ids(asc).toReversed()) ? 'asc is desc from behind' : null
}

function fieldsOf({ items: [first] }: Page): readonly string[] {
  return typeof first === 'object' && first !== null ? Object.keys(first) : []
}

/** How both pages are in order by a field; undefined where they are not, or where it shows too few values to tell. */
function wayOf(desc: Page, asc: Page, field: string): string | undefined {
  const textsOf = ({ items }: Page): readonly string[] => items.map((item) => textOf(item, field) ?? '')
  const [one, other] = [textsOf(desc), textsOf(asc)]
  if (new Set([...one, ...other]).size < FEWEST_VALUES) return undefined
  const numbers = [one.map(numberOf), other.map(numberOf)] as const
  const isNumeric = numbers.flat().every((value) => value !== undefined)
  return (isNumeric ? wayOfValues(...numbers) : undefined) ?? wayOfValues(one, other)
}

type Values = readonly (number | string | undefined)[]

/** One page may hold one value throughout: who is online now is last seen now. */
function wayOfValues(desc: Values, asc: Values): string | undefined {
  const [highest = '', lowest = ''] = [desc[0], asc[0]]
  if (falls(desc) && falls(asc.toReversed()) && highest > lowest) return 'desc falls, asc rises'
  if (falls(desc.toReversed()) && falls(asc) && highest < lowest) return 'desc rises, asc falls'
  const isSame = highest === lowest && desc.at(-1) === asc.at(-1)
  return isSame && (falls(desc) || falls(desc.toReversed())) ? 'ignored' : undefined
}

function falls(values: Values): boolean {
  return values.every((value = '', index) => index === 0 || (values[index - 1] ?? '') >= value)
}

/** Also of a duration: `125:03:09` comes after `26:00:00`. */
function numberOf(text: string): number | undefined {
  if (/^\d+:\d\d:\d\d$/.test(text)) {
    const [hours = 0, minutes = 0, seconds = 0] = text.split(':').map(Number)
    return hours * 3600 + minutes * 60 + seconds
  }
  return /^\d+(\.\d+)?$/.test(text) ? Number(text) : undefined
}
