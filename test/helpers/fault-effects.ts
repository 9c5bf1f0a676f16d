import { type Answer, answerWith, type Delivery, jsonAnswer, type ListBody, refuse } from '../../src/emulator/answer.ts'
import type { FaultEffect } from '../../src/emulator/faults.ts'
import type { ListQuery } from '../../src/emulator/params.ts'

/** A refusal with an HTTP status and its documented envelope; the status is the code's first three digits. */
export function refusal(code: number, message = 'Injected'): FaultEffect {
  return { name: `refusal ${code}`, answer: () => refuse('errors', { code, message }, 'matching') }
}

/** A bare status, as a gateway gives it. */
export function status(code: number, headers: Readonly<Record<string, string>> = {}): FaultEffect {
  return { name: `status ${code}`, answer: () => textAnswer(code, 'text/plain', '', headers) }
}

/** A page for people where JSON belongs. */
export function html(code: number): FaultEffect {
  const page = `<html><head><title>${code}</title></head><body><h1>${code}</h1></body></html>`
  return { name: `html ${code}`, answer: () => textAnswer(code, 'text/html', page) }
}

/** Does something at the first list that is answered, which then tells what was there before. */
export function atFirstList(act: () => void): FaultEffect {
  let isOver = false
  const answer = (given: Answer): Answer => {
    const { body } = given
    if (isOver || body.kind !== 'list') return given
    isOver = true
    const value = body.envelope(body.items(), body.total)
    act()
    return { ...given, body: { kind: 'json', value } }
  }
  return { name: 'at the first list', answer }
}

/** Changes the world before a page is served. */
export function meanwhile(change: () => void): FaultEffect {
  return {
    name: 'meanwhile',
    query: (query) => {
      change()
      return query
    },
  }
}

/** An effect that only the answers to such questions have. */
export function whereAsked(isMeant: (asked: ListQuery) => boolean, { name, answer }: FaultEffect): FaultEffect {
  let isAsked = false
  return {
    name,
    query: (asked) => {
      isAsked = isMeant(asked)
      return asked
    },
    answer: (given) => (isAsked ? (answer?.(given) ?? given) : given),
  }
}

export function emptyBody(): FaultEffect {
  return { name: 'empty body', answer: () => textAnswer(200, 'application/json', '') }
}

/** The connection ends after half of the promised bytes. */
export function cutBody(): FaultEffect {
  return delivered('cut body', { kind: 'cut', share: 0.5 })
}

export function connectionReset(): FaultEffect {
  return delivered('connection reset', { kind: 'reset' })
}

/** Nothing is ever answered; the call was carried out all the same. */
export function hang(): FaultEffect {
  return delivered('hang', { kind: 'hang' })
}

/** `{"errors": …}` with 200, where an array or an envelope belongs. */
export function errorsObject(code = 500001, message = 'Server logic error'): FaultEffect {
  return { name: 'errors object', answer: () => jsonAnswer({ errors: { code, message } }) }
}

/** `{errcode, msg}` with 200. */
export function errcode(code: number, message = 'Injected'): FaultEffect {
  return { name: `errcode ${code}`, answer: () => jsonAnswer({ errcode: code, msg: message }) }
}

/** Any JSON value as the whole body. */
export function jsonBody(value: unknown): FaultEffect {
  return { name: 'json body', answer: () => jsonAnswer(value) }
}

/** Something that is no row stands in the first row's place. */
export function foreignRow(value: unknown): FaultEffect {
  return onItems('foreign row', (items) => items.map((item, place) => (place === 0 ? value : item)))
}

/** One field, new or known, has this value: in the row at `index`, or in all. */
export function fieldValue(field: string, value: unknown, index?: number): FaultEffect {
  return onItems(`field ${field}`, (items) =>
    items.map((item, place) => (index === undefined || place === index ? withField(item, field, value) : item)),
  )
}

/** Each row goes out as `change` makes it. */
export function changedRows(change: (item: unknown, index: number) => unknown): FaultEffect {
  return onItems('changed rows', (items) => items.map(change))
}

/** The first row comes twice, and the total counts it once. */
export function duplicateRow(): FaultEffect {
  return onItems('duplicate row', (items) => [...items.slice(0, 1), ...items])
}

/** One row of the page is missing, and the total counts it. */
export function missingRow(index = 0): FaultEffect {
  return onItems('missing row', (items) => items.filter((_, place) => place !== index))
}

/** Rows that `isWithheld` never come, and the total counts them. */
export function withheldRows(isWithheld: (item: unknown) => boolean): FaultEffect {
  return onItems('withheld rows', (items) => items.filter((item) => !isWithheld(item)))
}

/** No rows at all in a well-formed answer with total 0. */
export function noRows(): FaultEffect {
  return onList('no rows', (list) => ({ ...list, items: () => [], total: 0 }))
}

/** The total is off by so much. */
export function falseTotal(by: number): FaultEffect {
  return onList('false total', (list) => ({ ...list, total: Math.max(0, list.total + by) }))
}

/** The total is the same whatever is asked for. */
export function constantTotal(total: number): FaultEffect {
  return onList('constant total', (list) => ({ ...list, total }))
}

/** The total is off by one more with each answer. */
export function changingTotal(): FaultEffect {
  let answers = 0
  return onList('changing total', (list) => ({ ...list, total: list.total + ++answers }))
}

/** Serves the page before the one asked for, and echoes the one asked for. */
export function repeatedPage(): FaultEffect {
  return { name: 'repeated page', query: (query) => ({ ...query, page: Math.max(1, query.page - 1) }) }
}

/** Serves the first page whatever is asked for; the echo says so only when `isAdmitted`. */
export function ignoredPage(isAdmitted = false): FaultEffect {
  return { name: 'ignored page', query: (query) => ({ ...query, page: 1, echoPage: isAdmitted ? 1 : query.echoPage }) }
}

/** Serves all times whatever range is asked for. */
export function ignoredTimeFilter(): FaultEffect {
  return { name: 'ignored time filter', query: (query) => ({ ...query, from: undefined, to: undefined }) }
}

/** Points elsewhere; a client that follows would carry its token along. */
export function redirect(location: string, code = 302): FaultEffect {
  return { name: `redirect ${code}`, answer: () => textAnswer(code, 'text/plain', '', { location }) }
}

function textAnswer(code: number, contentType: string, text: string, headers: Answer['headers'] = {}): Answer {
  return answerWith({ kind: 'text', contentType, text }, code, headers)
}

function delivered(name: string, delivery: Delivery): FaultEffect {
  return { name, answer: (answer) => ({ ...answer, delivery }) }
}

function onItems(name: string, change: (items: readonly unknown[]) => readonly unknown[]): FaultEffect {
  return onList(name, (list) => ({ ...list, items: () => change(list.items()) }))
}

/** Leaves answers without a list as they are. */
function onList(name: string, change: (list: ListBody) => ListBody): FaultEffect {
  const answer = (before: Answer): Answer =>
    before.body.kind === 'list' ? { ...before, body: { ...change(before.body), cacheKey: undefined } } : before
  return { name, answer }
}

function withField(item: unknown, field: string, value: unknown): unknown {
  return typeof item === 'object' && item !== null && !Array.isArray(item) ? { ...item, [field]: value } : item
}
