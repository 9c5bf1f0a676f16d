import type { Language } from '../core/column.ts'
import type { PersonalData } from './view.ts'

/** An operator's settings of the views. If one is undefined, the database keeps its value. */
export interface BiSettings {
  /** An ISO 4217 code. */
  readonly currency?: string | undefined
  /** The kinds to mask; empty masks nothing. */
  readonly masked?: readonly PersonalData[] | undefined
  readonly language?: Language | undefined
  /** Placeholder ids and phone numbers that identify nobody, in lower case and without blanks. */
  readonly ignoredIds?: readonly string[] | undefined
  /** A broadcast ends when nobody watches live for longer than this. */
  readonly broadcastGapMinutes?: number | undefined
  /** Anything shorter is not a broadcast. */
  readonly broadcastMinMinutes?: number | undefined
}
