/** `time` is the list's own time; `id` the order in which rows were added; `shuffled` a fixed, arbitrary order. */
export type RowOrder = 'time-asc' | 'time-desc' | 'id-asc' | 'id-desc' | 'shuffled'

/** How the emulated service behaves where the spec leaves it open; may be changed while it runs. */
export interface Switches {
  /** Whether the ends of time filters belong to the range: both, none, or the start only. */
  filterEnds: 'inclusive' | 'exclusive' | 'half-open'
  /** Which time of a watch record 4.5 and 4.6 filter by; `both`: those that began and ended in the range. */
  recordFilterTime: 'entry' | 'leave' | 'both'
  /** Of every list but 4.7. Managers have no time: `time` and `id` are the same there. */
  rowOrder: RowOrder
  /** What `direction` of 4.7 sorts by. */
  visitorOrder: 'last-online' | 'first-login' | 'watch-time' | 'user-id' | 'shuffled'
  /** The order of rows that the list's order does not tell apart: always the same, or by page and size. */
  ties: 'kept' | 'by-page'
  beyondLastPage: 'empty' | 'repeat-first' | 'repeat-last' | 'error'
  /** Where 4.8 and 4.9 read their parameters; elsewhere they are ignored. */
  listParams: 'query' | 'body'
  /** The largest total that is announced, however many rows there are. */
  largestTotal: number | undefined
  /** Whether pages leave out the rows beyond `largestTotal`. */
  hidesBehindTotal: boolean
  /** How a list without rows is sent; bare arrays are never missing. */
  emptyLists: 'array' | 'null' | 'missing'
  /** Which gifts carry visitor_id and name. */
  giftVisitor: 'some' | 'always' | 'never'
  totals: 'number' | 'text'
  questionnaireStatus: 'number' | 'boolean'
  /** Which bearer tokens the endpoints 4.3 to 4.12 accept. */
  bearers: 'any' | 'fetched'
  newTokenEndsOld: boolean
  /** HTTP status of a refusal with an errcode (4.1, 4.2, 4.10, 4.11); 401 and 429 always have their own. */
  errcodeStatus: 'ok' | 'matching'
  /** A time filter of more days is refused; undefined for any. */
  longestWindowDays: number | undefined
  /** Whether the account has the ten calls of a day, or each channel (4.6). */
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
