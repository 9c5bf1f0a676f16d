/** What a caller may do about an error: try again, leave this partition, or end the run. */
type Recovery = 'retry' | 'skip' | 'abort'

/**
 * The closed list of what can go wrong, `area.problem`, and how a run recovers from it. `retry` means once more within
 * the same call; when the attempts are used up, such an error ends its partition.
 */
export const recoveryOf = {
  /** A flag or an argument; `problems` are whole sentences, one a line on the terminal. */
  'usage.invalid': 'abort',
  /** A setting; `problems` name the variable, what was given (never a secret) and what it should be. */
  'config.invalid': 'abort',
  /** No connection: name resolution, refused, reset, TLS. */
  'api.unreachable': 'retry',
  /** No complete answer in time. */
  'api.timeout': 'retry',
  /** An HTTP status, or a body code that stands for one, that is not success and has no code of its own below. */
  'api.status': 'skip',
  /** 429, or a body code 429xxx. `retryAfterMs` as the service asked, where it did, a minute at most. */
  'api.rateLimited': 'retry',
  /** 401: the token is not accepted. `isRenewable`: it was a fetched one, and the next attempt carries a fresh one. */
  'api.unauthorized': 'abort',
  /** The app id and secret were refused at 4.1. */
  'api.credentialsRefused': 'abort',
  /** What answers at 4.1 issues no tokens. */
  'api.wrongAuthUrl': 'abort',
  /** No token came: 4.1 refused with an errcode that says nothing of the app id and secret, or failed each time. */
  'api.noToken': 'abort',
  /** 403: this account may not do this. */
  'api.forbidden': 'skip',
  /** The service does not know the channel (404002, or an errcode that says so). */
  'api.channelUnknown': 'skip',
  /** A well-formed answer that reports a failure: `errcode` other than 1000, or an `errors` envelope. */
  'api.refused': 'skip',
  /** A body that is empty, cut, not JSON or not of its charset. */
  'api.badBody': 'retry',
  /** A body that asking again would not change: too large, or in an unknown encoding. */
  'api.bodyRefused': 'skip',
  /** JSON of another shape than the spec's, such as an object where an array belongs. */
  'api.badShape': 'skip',
  /** The ten calls of the service day are spent (API 4.6). `resumesAt` is an ISO instant. */
  'api.budgetSpent': 'skip',
  /** The page parameter, the page size or the time filter had no effect. */
  'paging.ignored': 'skip',
  /** Too many rows of one slice could not be read: a changed interface, not bad rows. */
  'rows.unreadable': 'skip',
  /** A field that earlier items of the partition had is in none of a slice any more. */
  'interface.changed': 'skip',
  /** Fewer rows came than the source says there are, after reading again. */
  'slice.short': 'skip',
  /** The warehouse does not hold what the source has. */
  'audit.difference': 'skip',
  /** Another run has held the partition for too long. */
  'slice.locked': 'skip',
  /** A lease was not renewed in time, another has taken it, or its server is no longer the database's. */
  'lease.lost': 'skip',
  /** The database cannot be connected to. */
  'db.unreachable': 'abort',
  /** The database refuses: rights, read-only, full. */
  'db.refused': 'abort',
  /** A server older than PostgreSQL 14. */
  'db.tooOld': 'abort',
  /** The database cannot hold every text: it is not in UTF-8. */
  'db.encoding': 'abort',
  /** The schema stays as it is while a livehouse is at work. */
  'db.inUse': 'abort',
  /** Migrations are pending and `LIVEHOUSE_AUTO_MIGRATE` is 0. */
  'db.pendingMigrations': 'abort',
  /** The database was migrated by a newer livehouse. */
  'db.newer': 'abort',
  /** The database belongs to another source. */
  'db.otherSource': 'abort',
  /** The database to copy to is in use, or came out different. */
  'db.copyRefused': 'abort',
  /** The embedded PostgreSQL does not start, or has no binaries for this platform. */
  'db.embedded': 'abort',
  /** Another process is at work on the job. */
  'job.running': 'skip',
  /** No worker of the queue got to the end of a partition. */
  'job.failed': 'skip',
  /** SIGINT, SIGTERM or SIGHUP. */
  'run.interrupted': 'abort',
} as const satisfies Readonly<Record<string, Recovery>>

export type ErrorCode = keyof typeof recoveryOf

/** What is read of an error beside its message. */
interface Facts {
  'usage.invalid': { readonly problems: readonly string[] }
  'config.invalid': { readonly problems: readonly string[] }
  'api.status': {
    readonly call: string
    readonly status: number
    readonly code?: number | string
    readonly reason: string
    readonly retryAfterMs?: number
  }
  'api.rateLimited': { readonly call: string; readonly retryAfterMs?: number }
  'api.unauthorized': { readonly call: string; readonly isRenewable?: boolean }
  'api.refused': { readonly call: string; readonly code: number | string; readonly reason: string }
  'api.budgetSpent': { readonly scope: string; readonly resumesAt: string }
  'db.refused': { readonly reason: string; readonly sqlState: string }
  'run.interrupted': { readonly signal: 'SIGINT' | 'SIGTERM' | 'SIGHUP' }
}
type FactsOf<Code extends ErrorCode> = Code extends keyof Facts
  ? Facts[Code]
  : Code extends `api.${string}`
    ? { readonly call: string }
    : Readonly<Record<string, never>>

/**
 * The one error class. The message says what failed with the value that shows it and how to repair it, never a secret.
 * Match on `code`, never on the text.
 */
export class LivehouseError<Code extends ErrorCode = ErrorCode> extends Error {
  override readonly name = 'LivehouseError'
  readonly code: Code
  readonly details: FactsOf<Code>

  constructor(code: Code, message: string, details: FactsOf<Code>, options?: { readonly cause?: unknown }) {
    super(message, options)
    this.code = code
    this.details = details
  }
}

/** Whether `error` is ours and has this code; narrows `details` to the facts of that code. */
export function hasCode<Code extends ErrorCode>(error: unknown, code: Code): error is LivehouseError<Code> {
  return error instanceof LivehouseError && error.code === code
}

/** Whether a status says that asking again changes nothing: 408, 425 and 5xx may pass (RFC 9110, 15). */
export function isFinalStatus(error: unknown): error is LivehouseError<'api.status'> {
  return hasCode(error, 'api.status') && error.details.status < 500 && ![408, 425].includes(error.details.status)
}

/** The SQLSTATE of an error of a statement, or the code of Node; empty without one. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** How a run recovers from `error`; undefined for a bug, from which it does not. */
export function recoveryFrom(error: unknown): Recovery | undefined {
  const code: ErrorCode | undefined = error instanceof LivehouseError ? error.code : undefined
  return code && recoveryOf[code]
}

/** What is wrong with a command line, also where only the database or the service shows it. */
export function wrongUse(...problems: readonly string[]): LivehouseError<'usage.invalid'> {
  return new LivehouseError('usage.invalid', 'wrong use', { problems })
}
