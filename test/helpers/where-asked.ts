import type { FaultEffect } from '../../src/emulator/faults.ts'
import type { ListQuery } from '../../src/emulator/params.ts'

/** An effect that only the answers to such questions have. */
export function whereAsked(isMeant: (asked: ListQuery) => boolean, { name, answer }: FaultEffect): FaultEffect {
  let isAsked = false
  return {
    name,
    query: (asked) => {
      isAsked = isMeant(asked)
      return asked
    },
    answer: (given) => (isAsked ? (answer?.(given) ?? given) : given),
  }
}
