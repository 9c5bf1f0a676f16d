import type { PersonalData } from './view.ts'
import type { Language } from './view-statements.ts'

/** What an operator wants the views to show; undefined leaves it as the database has it. */
export interface BiSettings {
  /** ISO 4217. */
  readonly currency?: string | undefined
  /** Empty: nothing is masked. */
  readonly masked?: readonly PersonalData[] | undefined
  readonly language?: Language | undefined
  /** Ids and phones that stand for none and put nobody together, without blanks and in lower case. */
  readonly ignoredIds?: readonly string[] | undefined
  /** A longer time without live watching ends a broadcast. */
  readonly broadcastGapMinutes?: number | undefined
  /** What is shorter is no broadcast. */
  readonly broadcastMinMinutes?: number | undefined
}
