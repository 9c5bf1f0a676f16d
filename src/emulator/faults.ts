import type { Answer } from './answer.ts'
import type { ListQuery } from './params.ts'

/**
 * What a fault does: to the query before it is served, to the answer before it goes out, or both. A function may also
 * change the world, so that a list moves between two pages.
 */
export interface FaultEffect {
  readonly name: string
  readonly query?: (query: ListQuery) => ListQuery
  readonly answer?: (answer: Answer) => Answer
}

/** An effect and the calls that it happens to: those that match every property that is given. */
export interface Fault {
  readonly effect: FaultEffect
  /** The last word of its path. */
  readonly endpoint?: string
  readonly channelId?: string
  readonly page?: number
  /** How many more calls it happens to; at 0 it is removed. All when not given. */
  times?: number
}

/** The call that faults are matched with, of which some may not be known. */
type FaultTarget = { readonly [Part in 'endpoint' | 'channelId' | 'page']: Fault[Part] | undefined }

/** The effects on this call, in the order of the queue; counts them down and removes those that are used up. */
export function takeEffects(faults: Fault[], target: FaultTarget): readonly FaultEffect[] {
  const parts = ['endpoint', 'channelId', 'page'] as const
  const due = faults.filter((fault) => parts.every((part) => fault[part] === undefined || fault[part] === target[part]))
  for (const fault of due) {
    if (fault.times === undefined) continue
    fault.times -= 1
    if (fault.times <= 0) faults.splice(faults.indexOf(fault), 1)
  }
  return due.map(({ effect }) => effect)
}
