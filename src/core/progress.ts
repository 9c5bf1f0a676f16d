import type { Proof } from './slice.ts'
import type { StreamName } from './stream.ts'

/** What a run tells about itself while it goes on. `slice` is its partition, with its window where it has one. */
export type ProgressEvent =
  /** Comes first: how many slices the plan has for a stream. */
  | { readonly kind: 'stream.planned'; readonly stream: StreamName; readonly slices: number }
  | { readonly kind: 'slice.started'; readonly stream: StreamName; readonly slice: string }
  /** One page has been read. */
  | {
      readonly kind: 'page'
      readonly stream: StreamName
      readonly slice: string
      /** Items of this page. */
      readonly rows: number
      /** Pages of the whole slice, as far as the source's total says. */
      readonly totalPages: number | undefined
    }
  /** A slice turned out to be large and goes on in parts. */
  | { readonly kind: 'slice.cut'; readonly stream: StreamName; readonly slice: string; readonly parts: number }
  | { readonly kind: 'slice.ended'; readonly stream: StreamName; readonly slice: string; readonly proof: Proof }

/** Never throws and never waits. */
export type ReportProgress = (event: ProgressEvent) => void
