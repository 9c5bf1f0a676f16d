import { inspect } from 'node:util'
import { z } from 'zod'
import type { JobDefinition } from '../core/define-job.ts'
import { didYouMean } from '../core/did-you-mean.ts'
import { isTimeZone, parseWallTime } from '../core/wall-clock.ts'
import { findStream, streamNames, streams } from '../streams/registry.ts'
import { findCronProblem } from './timetable.ts'

const inTime = streams.find(({ isTimeFiltered }) => isTimeFiltered)?.name ?? ''

/** What a field should be, as the end of a message. */
const should = {
  cron: 'it should be five fields such as "15 2 * * *" (minute, hour, day of month, month, day of week)',
  timezone: 'it should be an IANA time zone such as Asia/Shanghai, or left out for the zone of the service',
  flag: 'it should be true or false',
  streams: `it should be a list of ${streamNames.join(', ')}`,
  channels: `it should be 'all', a list of channel ids such as ['1001'], or { group: 'name' }`,
  catchUp: `it should be 'once' or 'never'`,
  until: `it should be a time of day such as '06:00'`,
  days: 'it should be a whole number of days from 1 to 3650',
  lookback: `it should be numbers of days from 0 to 365 by stream, such as { ${inTime}: 7 }`,
  date: `it should be a date that exists, such as '2026-01-31'`,
  range: `it should be { from: '2026-01-01', to: '2026-02-01' } or { lastDays: 30 }`,
  kind: `it should be 'sync', 'backfill' or 'audit', or left out for a sync`,
  audited: 'an audit should name another stream too, or none: this one tells no total, and allows ten calls a day',
}

const wholeNumber = (min: number, max: number, error: string) =>
  z.int({ error }).min(min, { error }).max(max, { error })
const days = wholeNumber(1, 3650, should.days)
const perStream = (min: number, max: number, error: string) =>
  z.partialRecord(z.enum(streamNames, { error }), wholeNumber(min, max, error), { error })
const text = (isRight: (given: string) => boolean, error: string) => z.string({ error }).refine(isRight, { error })
const date = text((given) => given.length === 10 && parseWallTime(given) !== undefined, should.date)

const cron = z.string({ error: should.cron }).superRefine((given, context) => {
  const problem = findCronProblem(given)
  if (problem !== undefined) context.addIssue({ code: 'custom', message: `${problem}; ${should.cron}` })
})
const channelIds = z.array(z.string({ error: should.channels }).min(1), { error: should.channels }).min(1)
const group = z.strictObject({ group: z.string({ error: should.channels }).min(1) })
const dates = z
  .strictObject({ from: date.optional(), to: date.optional() })
  .refine(({ from, to }) => from === undefined || to === undefined || from < to, {
    error: 'from should lie before to, which is exclusive',
  })
const range = z.union([z.strictObject({ lastDays: days }), dates], { error: should.range })

const common = {
  cron,
  timezone: text(isTimeZone, should.timezone).optional(),
  enabled: z.boolean({ error: should.flag }).optional(),
  streams: z
    .array(z.enum(streamNames, { error: should.streams }), { error: should.streams })
    .min(1, { error: should.streams })
    .refine((given) => new Set(given).size === given.length, { error: `${should.streams}, each of them once` })
    .optional(),
  channels: z.union([z.literal('all'), channelIds, group], { error: should.channels }).optional(),
  catchUp: z.enum(['once', 'never'], { error: should.catchUp }).optional(),
}

const sync = z.strictObject({
  ...common,
  kind: z.literal('sync').optional(),
  until: text((given) => /^([01]\d|2[0-3]):[0-5]\d$/.test(given), should.until).optional(),
  lookbackDays: perStream(0, 365, should.lookback).optional(),
})
const backfill = z.strictObject({
  ...common,
  kind: z.literal('backfill'),
  range,
  onlyGaps: z.boolean({ error: should.flag }).optional(),
})

const audit = z.strictObject({
  ...common,
  kind: z.literal('audit'),
  streams: common.streams.refine((given) => given?.every((name) => findStream(name)?.isBudgeted) !== true, {
    error: should.audited,
  }),
  range: range.optional(),
})

const byKind = { sync, backfill, audit } as const

/** A job's definition, or every problem with it in a sentence of its own. */
type CheckedDefinition =
  | { readonly definition: JobDefinition; readonly problems?: undefined }
  | { readonly definition?: undefined; readonly problems: readonly string[] }

/** Checks what a job file exports. */
export function checkDefinition(given: unknown): CheckedDefinition {
  const kind: unknown = Object(given).kind ?? 'sync'
  if (kind !== 'sync' && kind !== 'backfill' && kind !== 'audit')
    return { problems: [`kind is ${show(kind)}; ${should.kind}`] }
  const schema = byKind[kind]
  const result = schema.safeParse(given)
  // JSON drops fields that the job file sets to undefined, which the type does not allow.
  if (result.success) return { definition: JSON.parse(JSON.stringify(result.data)) }
  const problems = result.error.issues.flatMap((issue) => problemsOf(issue, given, kind, Object.keys(schema.shape)))
  return { problems: [...new Set(problems)] }
}

function problemsOf(issue: z.core.$ZodIssue, given: unknown, kind: string, known: readonly string[]): string[] {
  const path = issue.path.map(String).join('.')
  if (issue.code === 'unrecognized_keys') {
    const byStream = path === 'lookbackDays' ? `${path} has streams: ${streamNames.join(', ')}` : undefined
    const place = path === '' ? `a job of kind ${kind} has ${known.join(', ')}` : (byStream ?? 'leave it out')
    const hint = (key: string) => (path === '' ? didYouMean(key, known) : '') || `; ${place}`
    return issue.keys.map((key) => `there is no field ${[path, key].filter(Boolean).join('.')}${hint(key)}`)
  }
  if (path === '') return [`it exports ${show(given)} by default; it should be defineJob({ cron: …, … })`]
  const value = issue.path.reduce<unknown>((inner, key) => Object(inner)[key], given)
  return [value === undefined ? `${path} is missing; ${issue.message}` : `${path} is ${show(value)}: ${issue.message}`]
}

function show(value: unknown): string {
  const text = inspect(value, { breakLength: Infinity })
  return text.length > 80 ? `${text.slice(0, 79)}…` : text
}
