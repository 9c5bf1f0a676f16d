import type { PersonalData } from './view.ts'

/** What an operator wants the views to show; undefined leaves it as the database has it. */
export interface BiSettings {
  /** ISO 4217. */
  readonly currency: string | undefined
  /** Empty: nothing is masked. */
  readonly masked: readonly PersonalData[] | undefined
}
