import type { PersonalData } from './view.ts'
import type { Language } from '../core/column.ts'

/** What an operator wants the views to show; undefined leaves it as the database has it. */
export interface BiSettings {
  /** ISO 4217. */
  readonly currency?: string | undefined
  /** Empty: nothing is masked. */
  readonly masked?: readonly PersonalData[] | undefined
  readonly language?: Language | undefined
  /** Placeholder ids and phones, which identify nobody; without blanks and in lower case. */
  readonly ignoredIds?: readonly string[] | undefined
  /** A broadcast ends when nobody watches live for longer than this. */
  readonly broadcastGapMinutes?: number | undefined
  /** Anything shorter is not a broadcast. */
  readonly broadcastMinMinutes?: number | undefined
}
