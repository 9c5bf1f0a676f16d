import { LivehouseError } from '../../core/errors.ts'
import { mendingOf } from './mending.ts'

/** One thing that the doctor looked at. */
export interface Check {
  readonly name: string
  /** `skipped`: it could not be looked at, or need not be. */
  readonly result: 'ok' | 'failed' | 'warning' | 'skipped'
  /** What was seen; never a secret. */
  readonly seen: string
  /** How to mend it; null where nothing is wrong, or where `seen` says it. */
  readonly mend: string | null
}

/** Takes each check as soon as it is done. */
export type ReportCheck = (check: Check) => void

export function passed(name: string, seen: string): Check {
  return { name, result: 'ok', seen, mend: null }
}

export function skipped(name: string, seen: string): Check {
  return { name, result: 'skipped', seen, mend: null }
}

/** What an error says of the thing that was looked at. @throws the error again when it is a bug or an interruption */
export function failed(name: string, error: unknown, signal: AbortSignal): Check {
  signal.throwIfAborted()
  if (!(error instanceof LivehouseError)) throw error
  return { name, result: 'failed', seen: error.message, mend: mendingOf(error.code) }
}
