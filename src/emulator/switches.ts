/** `time` is the list's own time; `id` the order in which rows came to be; `shuffled` a fixed order without sense. */
export type RowOrder = 'time-asc' | 'time-desc' | 'id-asc' | 'id-desc' | 'shuffled'

/** What the spec leaves open, as the emulated service has it; may be changed while it runs. */
export interface Switches {
  /** Whether the ends of time filters belong to the range: both, none, or the start only. */
  filterEnds: 'inclusive' | 'exclusive' | 'half-open'
  /** Which time of a watch record 4.5 and 4.6 filter by; `both`: those that began and ended in the range. */
  recordFilterTime: 'entry' | 'leave' | 'both'
  /** Of every list but 4.7. Managers have no time: `time` and `id` are the same there. */
  rowOrder: RowOrder
  /** What `direction` of 4.7 sorts by. */
  visitorOrder: 'last-online' | 'first-login' | 'watch-time' | 'user-id' | 'shuffled'
  /** The order of rows that are equal in what a list is sorted by: always the same, or by page and size. */
  ties: 'kept' | 'by-page'
  beyondLastPage: 'empty' | 'repeat-first' | 'repeat-last' | 'error'
  /** Where 4.8 and 4.9 read their parameters; elsewhere they are ignored. */
  listParams: 'query' | 'body'
  /** No total is larger, whatever there is. */
  largestTotal: number | undefined
  /** Whether rows behind `largestTotal` are not there for any page. */
  hidesBehindTotal: boolean
  /** What stands for a list without rows; bare arrays are never missing, and that of 4.6 is never null. */
  emptyLists: 'array' | 'null' | 'missing'
  /** Which gifts carry visitor_id and name. */
  giftVisitor: 'some' | 'always' | 'never'
  /** Totals, in every envelope that has one. */
  totals: 'number' | 'text'
  questionnaireStatus: 'number' | 'boolean'
  /** Which bearer tokens the endpoints 4.3 to 4.12 accept. */
  bearers: 'any' | 'fetched'
  newTokenEndsOld: boolean
  /** HTTP status of a refusal with an errcode (4.1, 4.2, 4.10, 4.11); 401 and 429 always have their own. */
  errcodeStatus: 'ok' | 'matching'
  /** A time filter of more days is refused; undefined for any. */
  longestWindowDays: number | undefined
  /** Whom the ten calls of a day belong to. */
  v1BudgetScope: 'account' | 'channel'
}

export const defaultSwitches: Readonly<Switches> = {
  filterEnds: 'inclusive',
  recordFilterTime: 'entry',
  rowOrder: 'time-desc',
  visitorOrder: 'last-online',
  ties: 'kept',
  beyondLastPage: 'empty',
  listParams: 'query',
  largestTotal: undefined,
  hidesBehindTotal: false,
  emptyLists: 'array',
  giftVisitor: 'some',
  totals: 'number',
  questionnaireStatus: 'number',
  bearers: 'any',
  newTokenEndsOld: false,
  errcodeStatus: 'ok',
  longestWindowDays: undefined,
  v1BudgetScope: 'account',
}
