/** What the spec leaves open and a probe asks the service for, each with what an answer to it says. */
export const factTopics = {
  list_params: 'where the parameters are read',
  zone: 'the newest record and the configured zone',
} as const

export type FactTopic = keyof typeof factTopics

/** One answer of a probe. Never holds personal data: numbers of rows, times and names of fields only. */
export interface SourceFact {
  readonly topic: FactTopic
  /** `account`, or an endpoint. */
  readonly subject: string
  /** Null: it could not be known; the evidence says why. */
  readonly answer: string | null
  /** What was asked, and what came. */
  readonly evidence: string
}

/** A fact as it is kept. */
export interface KnownFact extends SourceFact {
  readonly foundAt: Date
}
