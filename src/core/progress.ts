import type { Proof } from './slice.ts'
import type { StreamName } from './stream.ts'

/** What a run tells about itself while it goes on. */
export type ProgressEvent =
  /** Comes first: how many slices the plan has for a stream. */
  | { readonly kind: 'stream.planned'; readonly stream: StreamName; readonly slices: number }
  | { readonly kind: 'slice.started'; readonly stream: StreamName; readonly partition: string }
  /** One page has been read. */
  | {
      readonly kind: 'page'
      readonly stream: StreamName
      readonly partition: string
      /** Items of this page. */
      readonly rows: number
      /** Pages of the whole slice, as far as the source's total says. */
      readonly totalPages: number | undefined
    }
  | { readonly kind: 'slice.ended'; readonly stream: StreamName; readonly partition: string; readonly proof: Proof }

/** Never throws and never waits. */
export type ReportProgress = (event: ProgressEvent) => void
