import type { Answer } from './answer.ts'
import type { EndpointName, ListQuery } from './endpoint.ts'

/**
 * What a fault does: to the query before it is served, to the answer before it goes out, or both. A function may also
 * change the world, so that a list moves between two pages.
 */
export interface FaultEffect {
  readonly name: string
  readonly query?: (query: ListQuery) => ListQuery
  readonly answer?: (answer: Answer) => Answer
}

/** An effect and the calls that it meets; what is not named meets all. Tests push it onto `emulator.faults`. */
export interface Fault {
  readonly effect: FaultEffect
  readonly endpoint?: EndpointName
  readonly channelId?: string
  /** As asked. */
  readonly page?: number
  /** How many more calls it meets; it leaves the queue at 0. Without it, it stays. */
  times?: number
}

/** The call that faults are matched with. */
interface FaultTarget {
  readonly endpoint: EndpointName | undefined
  readonly channelId: string | undefined
  readonly page: number | undefined
}

/** The effects that meet this call, in the order of the queue; counts them down and removes those that are used up. */
export function takeEffects(faults: Fault[], target: FaultTarget): readonly FaultEffect[] {
  const met = faults.filter((fault) => meets(fault, target))
  for (const fault of met) {
    if (fault.times === undefined) continue
    fault.times -= 1
    if (fault.times <= 0) faults.splice(faults.indexOf(fault), 1)
  }
  return met.map(({ effect }) => effect)
}

function meets(fault: Fault, { endpoint, channelId, page }: FaultTarget): boolean {
  return (
    (fault.endpoint === undefined || fault.endpoint === endpoint) &&
    (fault.channelId === undefined || fault.channelId === channelId) &&
    (fault.page === undefined || fault.page === page)
  )
}
