import { type Answer, answerWith, type Delivery, jsonAnswer, type ListBody, refuse } from '../../src/emulator/answer.ts'
import type { FaultEffect } from '../../src/emulator/faults.ts'
import type { ListQuery } from '../../src/emulator/params.ts'

/** A refusal with an HTTP status and its documented envelope; the status is the code's first three digits. */
export const refusal = (code: number, message = 'Injected'): FaultEffect =>
  onAnswer(`refusal ${code}`, () => refuse('errors', { code, message }, 'matching'))
/** A bare status, as gateways send it. */
export const status = (code: number, headers: Readonly<Record<string, string>> = {}): FaultEffect =>
  onAnswer(`status ${code}`, () => textAnswer(code, 'text/plain', '', headers))
export const html = (code: number): FaultEffect =>
  onAnswer(`html ${code}`, () => textAnswer(code, 'text/html', `<html><title>${code}</title><h1>${code}</h1></html>`))
export const emptyBody = (): FaultEffect => onAnswer('empty body', () => textAnswer(200, 'application/json', ''))
/** `{"errors": …}` with 200, instead of an array or an envelope. */
export const errorsObject = (code = 500001, message = 'Server logic error'): FaultEffect =>
  onAnswer('errors object', () => jsonAnswer({ errors: { code, message } }))
export const errcode = (code: number, message = 'Injected'): FaultEffect =>
  onAnswer(`errcode ${code}`, () => jsonAnswer({ errcode: code, msg: message }))
/** Any JSON value as the whole body. */
export const jsonBody = (value: unknown): FaultEffect => onAnswer('json body', () => jsonAnswer(value))

/** The connection ends after half of the promised bytes. */
export const cutBody = (): FaultEffect => deliver('cut body', { kind: 'cut', share: 0.5 })
export const connectionReset = (): FaultEffect => deliver('connection reset', { kind: 'reset' })
/** The call is carried out but never answered. */
export const hang = (): FaultEffect => deliver('hang', { kind: 'hang' })

/** Replaces the first row by something that is not a row. */
export const foreignRow = (value: unknown): FaultEffect => changedRows((item, place) => (place === 0 ? value : item))
/** Sets a field, new or known, in the row at `index` or in all rows. */
export const fieldValue = (field: string, value: unknown, index?: number): FaultEffect =>
  changedRows((item, place) => (index === undefined || place === index ? withField(item, field, value) : item))
/** Changes each row. */
export const changedRows = (change: (item: unknown, index: number) => unknown): FaultEffect =>
  onItems('changed rows', (items) => items.map(change))
/** Leaves out the empty fields of each row. */
export const withoutEmptyFields = (): FaultEffect =>
  changedRows((item) => Object.fromEntries(Object.entries(Object(item)).filter(([, value]) => (value ?? '') !== '')))
/** Sends the first row twice; the total counts it once. */
export const duplicateRow = (): FaultEffect => onItems('duplicate row', (items) => [...items.slice(0, 1), ...items])
/** Leaves out one row of the page; the total counts it. */
export const missingRow = (index = 0): FaultEffect =>
  onItems('missing row', (items) => items.filter((_, place) => place !== index))
/** Never sends rows for which `isWithheld` is true; the total counts them. */
export const withheldRows = (isWithheld: (item: unknown) => boolean): FaultEffect =>
  onItems('withheld rows', (items) => items.filter((item) => !isWithheld(item)))
/** Sends no rows, in a well-formed answer with total 0. */
export const noRows = (): FaultEffect => onList('no rows', (list) => ({ ...list, items: () => [], total: 0 }))

export const falseTotal = (by: number): FaultEffect =>
  onList('false total', (list) => ({ ...list, total: Math.max(0, list.total + by) }))
export const constantTotal = (total: number): FaultEffect => onList('constant total', (list) => ({ ...list, total }))
/** Adds to the total, one more with each answer. */
export function changingTotal(): FaultEffect {
  let answers = 0
  return onList('changing total', (list) => ({ ...list, total: list.total + ++answers }))
}

/** Serves the page before the requested one, and echoes the requested one. */
export const repeatedPage = (): FaultEffect =>
  onQuery('repeated page', (query) => ({ ...query, page: Math.max(1, query.page - 1) }))
/** Serves the first page whatever is requested; the echo says so only if `isAdmitted`. */
export const ignoredPage = (isAdmitted = false): FaultEffect =>
  onQuery('ignored page', (query) => ({ ...query, page: 1, echoPage: isAdmitted ? 1 : query.echoPage }))
/** Serves all times whatever range is requested. */
export const ignoredTimeFilter = (): FaultEffect =>
  onQuery('ignored time filter', (query) => ({ ...query, from: undefined, to: undefined }))

/** Acts when the first list is answered; the answer still has the rows from before. */
export function atFirstList(act: () => void): FaultEffect {
  let isOver = false
  return onAnswer('at the first list', (given) => {
    const { body } = given
    if (isOver || body.kind !== 'list') return given
    isOver = true
    const value = body.envelope(body.items(), body.total)
    act()
    return { ...given, body: { kind: 'json', value } }
  })
}

/** Changes the world before a page is served. */
export function meanwhile(change: () => void): FaultEffect {
  return onQuery('meanwhile', (query) => {
    change()
    return query
  })
}

/** Limits an effect to the answers to queries that match. */
export function whereAsked(matches: (query: ListQuery) => boolean, { name, answer }: FaultEffect): FaultEffect {
  let isMatch = false
  const query = (each: ListQuery): ListQuery => {
    isMatch = matches(each)
    return each
  }
  return { name, query, answer: (given) => (isMatch ? (answer?.(given) ?? given) : given) }
}

const onQuery = (name: string, query: (query: ListQuery) => ListQuery): FaultEffect => ({ name, query })

const onAnswer = (name: string, answer: (given: Answer) => Answer): FaultEffect => ({ name, answer })

function textAnswer(code: number, contentType: string, text: string, headers: Answer['headers'] = {}): Answer {
  return answerWith({ kind: 'text', contentType, text }, code, headers)
}

const deliver = (name: string, delivery: Delivery): FaultEffect => onAnswer(name, (given) => ({ ...given, delivery }))

function onItems(name: string, change: (items: readonly unknown[]) => readonly unknown[]): FaultEffect {
  return onList(name, (list) => ({ ...list, items: () => change(list.items()) }))
}

/** Changes lists, and leaves other answers as they are. */
function onList(name: string, change: (list: ListBody) => ListBody): FaultEffect {
  return onAnswer(name, (given) =>
    given.body.kind === 'list' ? { ...given, body: { ...change(given.body), cacheKey: undefined } } : given,
  )
}

function withField(item: unknown, field: string, value: unknown): unknown {
  return typeof item === 'object' && item !== null && !Array.isArray(item) ? { ...item, [field]: value } : item
}
