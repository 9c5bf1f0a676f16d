import { type Answer, answerWith, type Delivery, jsonAnswer, type ListBody, refuse } from '../../src/emulator/answer.ts'
import type { FaultEffect } from '../../src/emulator/faults.ts'
import type { ListQuery } from '../../src/emulator/params.ts'

/** A refusal with an HTTP status and its documented envelope; the status is the code's first three digits. */
export const refusal = (code: number, message = 'Injected'): FaultEffect =>
  answered(`refusal ${code}`, () => refuse('errors', { code, message }, 'matching'))
/** A bare status, as a gateway gives it. */
export const status = (code: number, headers: Readonly<Record<string, string>> = {}): FaultEffect =>
  answered(`status ${code}`, () => textAnswer(code, 'text/plain', '', headers))
/** A page for people where JSON belongs. */
export const html = (code: number): FaultEffect =>
  answered(`html ${code}`, () => textAnswer(code, 'text/html', `<html><title>${code}</title><h1>${code}</h1></html>`))
export const emptyBody = (): FaultEffect => answered('empty body', () => textAnswer(200, 'application/json', ''))
/** `{"errors": …}` with 200, where an array or an envelope belongs. */
export const errorsObject = (code = 500001, message = 'Server logic error'): FaultEffect =>
  answered('errors object', () => jsonAnswer({ errors: { code, message } }))
/** `{errcode, msg}` with 200. */
export const errcode = (code: number, message = 'Injected'): FaultEffect =>
  answered(`errcode ${code}`, () => jsonAnswer({ errcode: code, msg: message }))
/** Any JSON value as the whole body. */
export const jsonBody = (value: unknown): FaultEffect => answered('json body', () => jsonAnswer(value))

/** The connection ends after half of the promised bytes. */
export const cutBody = (): FaultEffect => delivered('cut body', { kind: 'cut', share: 0.5 })
export const connectionReset = (): FaultEffect => delivered('connection reset', { kind: 'reset' })
/** Nothing is ever answered; the call was carried out all the same. */
export const hang = (): FaultEffect => delivered('hang', { kind: 'hang' })

/** Something that is no row stands in the first row's place. */
export const foreignRow = (value: unknown): FaultEffect => changedRows((item, place) => (place === 0 ? value : item))
/** One field, new or known, has this value: in the row at `index`, or in all. */
export const fieldValue = (field: string, value: unknown, index?: number): FaultEffect =>
  changedRows((item, place) => (index === undefined || place === index ? withField(item, field, value) : item))
/** Each row goes out as `change` makes it. */
export const changedRows = (change: (item: unknown, index: number) => unknown): FaultEffect =>
  onItems('changed rows', (items) => items.map(change))
/** The first row comes twice, and the total counts it once. */
export const duplicateRow = (): FaultEffect => onItems('duplicate row', (items) => [...items.slice(0, 1), ...items])
/** One row of the page is missing, and the total counts it. */
export const missingRow = (index = 0): FaultEffect =>
  onItems('missing row', (items) => items.filter((_, place) => place !== index))
/** Rows that `isWithheld` never come, and the total counts them. */
export const withheldRows = (isWithheld: (item: unknown) => boolean): FaultEffect =>
  onItems('withheld rows', (items) => items.filter((item) => !isWithheld(item)))
/** No rows at all in a well-formed answer with total 0. */
export const noRows = (): FaultEffect => onList('no rows', (list) => ({ ...list, items: () => [], total: 0 }))

/** The total is off by so much. */
export const falseTotal = (by: number): FaultEffect =>
  onList('false total', (list) => ({ ...list, total: Math.max(0, list.total + by) }))
/** The total is the same whatever is asked for. */
export const constantTotal = (total: number): FaultEffect => onList('constant total', (list) => ({ ...list, total }))
/** The total is off by one more with each answer. */
export function changingTotal(): FaultEffect {
  let answers = 0
  return onList('changing total', (list) => ({ ...list, total: list.total + ++answers }))
}

/** Serves the page before the one asked for, and echoes the one asked for. */
export const repeatedPage = (): FaultEffect =>
  asked('repeated page', (query) => ({ ...query, page: Math.max(1, query.page - 1) }))
/** Serves the first page whatever is asked for; the echo says so only when `isAdmitted`. */
export const ignoredPage = (isAdmitted = false): FaultEffect =>
  asked('ignored page', (query) => ({ ...query, page: 1, echoPage: isAdmitted ? 1 : query.echoPage }))
/** Serves all times whatever range is asked for. */
export const ignoredTimeFilter = (): FaultEffect =>
  asked('ignored time filter', (query) => ({ ...query, from: undefined, to: undefined }))

/** Does something at the first list that is answered, which then tells what was there before. */
export function atFirstList(act: () => void): FaultEffect {
  let isOver = false
  return answered('at the first list', (given) => {
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
  return asked('meanwhile', (query) => {
    change()
    return query
  })
}

/** An effect that only the answers to such questions have. */
export function whereAsked(isMeant: (query: ListQuery) => boolean, { name, answer }: FaultEffect): FaultEffect {
  let isAsked = false
  const query = (each: ListQuery): ListQuery => {
    isAsked = isMeant(each)
    return each
  }
  return { name, query, answer: (given) => (isAsked ? (answer?.(given) ?? given) : given) }
}

const asked = (name: string, query: (query: ListQuery) => ListQuery): FaultEffect => ({ name, query })

const answered = (name: string, answer: (given: Answer) => Answer): FaultEffect => ({ name, answer })

function textAnswer(code: number, contentType: string, text: string, headers: Answer['headers'] = {}): Answer {
  return answerWith({ kind: 'text', contentType, text }, code, headers)
}

const delivered = (name: string, delivery: Delivery): FaultEffect => answered(name, (given) => ({ ...given, delivery }))

function onItems(name: string, change: (items: readonly unknown[]) => readonly unknown[]): FaultEffect {
  return onList(name, (list) => ({ ...list, items: () => change(list.items()) }))
}

/** Leaves answers without a list as they are. */
function onList(name: string, change: (list: ListBody) => ListBody): FaultEffect {
  return answered(name, (given) =>
    given.body.kind === 'list' ? { ...given, body: { ...change(given.body), cacheKey: undefined } } : given,
  )
}

function withField(item: unknown, field: string, value: unknown): unknown {
  return typeof item === 'object' && item !== null && !Array.isArray(item) ? { ...item, [field]: value } : item
}
