import { LARGEST_DIFFERENCE_SECONDS } from '../../app/open-connection.ts'
import { type Check, passed, skipped } from './check.ts'

/** This machine's clock beside the service's. `aheadMs`: how far it is ahead; undefined where no answer told. */
export function checkClock(aheadMs: number | undefined): Check {
  const name = 'clock'
  if (aheadMs === undefined) return skipped(name, "not compared: no answer told the service's time")
  const seconds = Math.round(aheadMs / 1000)
  // The header has whole seconds, and the answer was under way.
  if (Math.abs(seconds) <= 2) return passed(name, "the same as the service's")
  const seen = `${Math.abs(seconds)} s ${seconds > 0 ? 'ahead of' : 'behind'} the service's`
  if (Math.abs(seconds) <= LARGEST_DIFFERENCE_SECONDS) return passed(name, seen)
  const mend =
    "synchronise the clock of this machine (NTP): what is read goes by the service's, but schedules and ages by this one"
  return { name, result: 'warning', seen, mend }
}
