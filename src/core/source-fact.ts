import type { ListEndpoint } from './page.ts'

/** What the spec leaves open and a probe asks the service for, each with what an answer to it says. */
export const factTopics = {
  record_filter_time: 'the time that the filter looks at',
  filter_ends: 'ends of the time filter that belong to it',
  visitor_order: 'the field that the list is sorted by',
  visitor_direction: 'what desc and asc do',
  past_last_page: 'what comes past the last page',
  above_maximum: 'the page size served above the maximum',
  gift_visitor: 'rows that carry visitor_id',
  zone: 'the newest record and the configured zone',
  recurring_record_ids: 'record ids that recur across channels',
  recurring_user_ids: 'viewer ids that recur across channels',
  list_params: 'where the parameters are read',
  v1_history: 'what version 1 holds',
  retry_after: 'Retry-After of a refused call',
  response_time: 'response time',
} as const

export type FactTopic = keyof typeof factTopics

/** What is asked: all of the account, or an endpoint. */
export const factSubjects = [
  'account',
  'userRecordList',
  'visitorList',
  'giftRunning',
  'getQuestionList',
  'signupRecord',
  'managers',
  'managersUsage',
  'userRecords',
] as const satisfies readonly (ListEndpoint | 'account')[]

export type FactSubject = (typeof factSubjects)[number]

/** One answer of a probe. Never holds personal data: numbers of rows, times and names of fields only. */
export interface SourceFact {
  readonly topic: FactTopic
  readonly subject: FactSubject
  /** Null: it could not be known; the evidence says why. */
  readonly answer: string | null
  /** What was asked, and what came. */
  readonly evidence: string
}

/** A fact as it is kept. */
export interface KnownFact extends SourceFact {
  readonly foundAt: Date
}
