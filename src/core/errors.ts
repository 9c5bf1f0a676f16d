/** What a caller does about an error: try again, skip this partition, or end the run. */
type Recovery = 'retry' | 'skip' | 'abort'

/**
 * Every error code, `area.problem`, and how a run recovers from it. `retry` repeats the attempt within the same call;
 * once the attempts are used up, the error ends its partition.
 */
export const recoveryOf = {
  /** A wrong flag or argument. `problems` are whole sentences, printed one a line. */
  'usage.invalid': 'abort',
  /** A wrong setting. `problems` name the variable, what was given (never a secret) and what it should be. */
  'config.invalid': 'abort',
  /** No connection: name resolution, refused, reset, TLS. */
  'api.unreachable': 'retry',
  /** No complete answer came in time. */
  'api.timeout': 'retry',
  /** An HTTP status other than success, or a body code that stands for one, without an error code of its own below. */
  'api.status': 'skip',
  /** 429, or a body code 429xxx. `retryAfterMs` is the service's Retry-After, if it sent one, capped at a minute. */
  'api.rateLimited': 'retry',
  /** 401: the token is not accepted. `isRenewable`: the token was fetched, and the next attempt carries a new one. */
  'api.unauthorized': 'abort',
  /** The service refused the app id and secret (API 4.1). */
  'api.credentialsRefused': 'abort',
  /** The server at the auth URL does not issue tokens (API 4.1). */
  'api.wrongAuthUrl': 'abort',
  /** No token was issued: 4.1 failed each time, or with an errcode that does not blame the app id and secret. */
  'api.noToken': 'abort',
  /** 403: the account lacks the permission. */
  'api.forbidden': 'skip',
  /** The service does not know the channel (404002, or an errcode that says so). */
  'api.channelUnknown': 'skip',
  /** A well-formed answer that reports a failure: `errcode` other than 1000, or an `errors` envelope. */
  'api.refused': 'skip',
  /** A body that is empty, cut, not JSON or not of its charset. */
  'api.badBody': 'retry',
  /** A body that a retry would not change: too large, or in an unknown encoding. */
  'api.bodyRefused': 'skip',
  /** JSON whose shape is not the spec's, such as an object in place of an array. */
  'api.badShape': 'skip',
  /** The ten calls of the service day are spent (API 4.6). `resumesAt` is an ISO instant. */
  'api.budgetSpent': 'skip',
  /** The page parameter, the page size or the time filter had no effect. */
  'paging.ignored': 'skip',
  /** Too many rows of one slice could not be read: a changed interface, not bad rows. */
  'rows.unreadable': 'skip',
  /** A field that earlier items of the partition had is missing from every item of a slice. */
  'interface.changed': 'skip',
  /** Even after repeated readings, fewer rows came than the source's total. */
  'slice.short': 'skip',
  /** The warehouse and the source hold different rows. */
  'audit.difference': 'skip',
  /** Another run has held the partition for too long. */
  'slice.locked': 'skip',
  /** A lease was not renewed in time or was taken over, or the database has failed over to another server. */
  'lease.lost': 'skip',
  /** No connection to the database. */
  'db.unreachable': 'abort',
  /** The database refuses a statement: missing rights, read-only, full. */
  'db.refused': 'abort',
  /** The server is older than PostgreSQL 14. */
  'db.tooOld': 'abort',
  /** The database's encoding is not UTF-8, so it cannot hold every text. */
  'db.encoding': 'abort',
  /** The schema cannot be changed while a livehouse is running. */
  'db.inUse': 'abort',
  /** Migrations are pending: `LIVEHOUSE_AUTO_MIGRATE` is 0, or one was reverted. */
  'db.pendingMigrations': 'abort',
  /** The database was migrated by a newer livehouse. */
  'db.newer': 'abort',
  /** The database belongs to another source. */
  'db.otherSource': 'abort',
  /** The database cannot be copied: it is empty or altered, the target is in use, or the dump file is unusable. */
  'db.copyRefused': 'abort',
  /** The embedded PostgreSQL does not start, or has no binaries for this platform. */
  'db.embedded': 'abort',
  /** Another process is running the job. */
  'job.running': 'skip',
  /** No worker of the queue completed a partition. */
  'job.failed': 'skip',
  /** SIGINT, SIGTERM or SIGHUP. */
  'run.interrupted': 'abort',
} as const satisfies Readonly<Record<string, Recovery>>

export type ErrorCode = keyof typeof recoveryOf

/** The facts that an error carries beside its message, by code. */
interface Facts {
  'usage.invalid': { readonly problems: readonly string[] }
  'config.invalid': { readonly problems: readonly string[] }
  'api.status': {
    readonly call: string
    readonly status: number
    readonly code?: number | string | undefined
    readonly reason: string
    readonly retryAfterMs?: number | undefined
    readonly isWebPage?: boolean
  }
  'api.rateLimited': { readonly call: string; readonly retryAfterMs?: number | undefined }
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
 * The one error class. Its message says what failed, with the value that shows it, and how to repair it, and holds no
 * secrets. Match on `code`, never on the text.
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

/** Whether `error` is a `LivehouseError` with this code. Narrows `details` to the facts of that code. */
export function hasCode<Code extends ErrorCode>(error: unknown, code: Code): error is LivehouseError<Code> {
  return error instanceof LivehouseError && error.code === code
}

/** Whether a retry cannot succeed, by the HTTP status; 408, 425 and 5xx are temporary (RFC 9110, section 15). */
export function isFinalStatus(error: unknown): error is LivehouseError<'api.status'> {
  return hasCode(error, 'api.status') && error.details.status < 500 && ![408, 425].includes(error.details.status)
}

/** The SQLSTATE of a failed statement, or Node's error code; empty if the error has neither. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** How a run recovers from `error`; undefined for a bug, from which it cannot recover. */
export function recoveryFrom(error: unknown): Recovery | undefined {
  const code: ErrorCode | undefined = error instanceof LivehouseError ? error.code : undefined
  return code && recoveryOf[code]
}

/** The error for a wrong command line, including problems that only the database or the service can show. */
export function wrongUse(...problems: readonly string[]): LivehouseError<'usage.invalid'> {
  return new LivehouseError('usage.invalid', 'wrong use', { problems })
}
