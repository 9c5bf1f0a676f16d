/** What one statement deletes of old records. */
export interface Pruning {
  /** What is older than this. */
  readonly before: Date
  readonly now: Date
  /** So many rows. */
  readonly most: number
}
