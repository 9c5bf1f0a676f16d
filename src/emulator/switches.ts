/** Lists the values that a switch can have. @returns the first, its default */
export function oneOf<const Value>(...values: readonly [Value, ...Value[]]): Value {
  return values[0]
}

/** How the emulated service behaves where the spec does not say; may be changed while it runs. */
export type Switches = typeof defaultSwitches

export const defaultSwitches = {
  /** Whether the ends of time filters belong to the range: both, none, or the start only. */
  filterEnds: oneOf('inclusive', 'exclusive', 'half-open'),
  /** Which time of a watch record 4.5 and 4.6 filter by; `both`: visits that began and ended in the range. */
  recordFilterTime: oneOf('entry', 'leave', 'both'),
  /**
   * The order of every list but 4.7. `time`: by the list's own time; `id`: the order in which rows were added;
   * `shuffled`: a fixed, arbitrary order. Managers have no time, so `time` and `id` are the same there.
   */
  rowOrder: oneOf('time-desc', 'time-asc', 'id-asc', 'id-desc', 'shuffled'),
  /** What `direction` of 4.7 sorts by. */
  visitorOrder: oneOf('last-online', 'first-login', 'watch-time', 'user-id', 'shuffled'),
  /** The order of rows that sort equal: always the same, or different on each page. */
  ties: oneOf('kept', 'by-page'),
  beyondLastPage: oneOf('empty', 'repeat-first', 'repeat-last', 'error'),
  /** Where 4.8 and 4.9 read their parameters; elsewhere they are ignored. */
  listParams: oneOf('query', 'body'),
  /** The largest total that answers report, however many rows there are; undefined for no limit. */
  largestTotal: oneOf<number | undefined>(undefined),
  /** Whether pages leave out the rows beyond `largestTotal`. */
  hidesBehindTotal: false,
  /** How an empty list is sent; a bare array is never missing. */
  emptyLists: oneOf('array', 'null', 'missing'),
  /** Which gifts carry visitor_id and name. */
  giftVisitor: oneOf('some', 'always', 'never'),
  totals: oneOf('number', 'text'),
  questionnaireStatus: oneOf('number', 'boolean'),
  /** Which bearer tokens the endpoints 4.3 to 4.12 accept. */
  bearers: oneOf('any', 'fetched'),
  newTokenEndsOld: false,
  /** The HTTP status of an errcode (4.1, 4.2, 4.10, 4.11): 200 or its own; 401 and 429 always have their own. */
  errcodeStatus: oneOf('ok', 'matching'),
  /** The longest time range that is not refused, in days; undefined for no limit. */
  longestWindowDays: oneOf<number | undefined>(undefined),
  /** Whether the account or each channel has ten calls a day (4.6). */
  v1BudgetScope: oneOf('account', 'channel'),
}
