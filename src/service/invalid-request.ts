import { LivehouseError } from '../core/errors.ts'

/** A request that the spec forbids; nothing was sent. `given` is the value that breaks the rule. */
export function invalidRequest(
  call: string,
  rule: string,
  given: string | number | undefined,
): LivehouseError<'api.invalidRequest'> {
  const shown = given === undefined ? 'nothing' : `"${String(given).slice(0, 100)}"`
  return new LivehouseError('api.invalidRequest', `${call}: ${rule}, but ${shown} was given; no call was made`, {
    call,
    rule,
    given: shown,
  })
}
