/** One answer of a probe to what the spec leaves open. Never holds personal data: numbers of rows and names of fields only. */
export interface SourceFact {
  /** `list_params`: where a list reads its parameters. */
  readonly topic: 'list_params'
  /** An endpoint. */
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
