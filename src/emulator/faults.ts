import type { Answer } from './answer.ts'
import type { ListQuery } from './params.ts'

/**
 * What a fault changes: the query before it is served, the answer before it is sent, or both. A function may also
 * change the world, so that a list moves between two pages.
 */
export interface FaultEffect {
  readonly name: string
  readonly query?: (query: ListQuery) => ListQuery
  readonly answer?: (answer: Answer) => Answer
}

/** An effect and the calls that it applies to: those that match every property given here. */
export interface Fault {
  readonly effect: FaultEffect
  /** The last segment of the call's path. */
  readonly endpoint?: string
  readonly channelId?: string
  readonly page?: number
  /** How many more calls it applies to; at 0 it is removed. Undefined for every call. */
  times?: number
}

/** The call that faults are matched against. */
type FaultTarget = { readonly [Part in 'endpoint' | 'channelId' | 'page']: Fault[Part] | undefined }

/** Takes the effects on this call, in the order of `faults`; counts their faults down and removes those used up. */
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
