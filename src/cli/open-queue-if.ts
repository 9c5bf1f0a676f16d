import type { AppContext } from '../app/context.ts'
import type { DatabaseSettings } from '../app/settings.ts'
import type { RunPhases } from '../sync/run-streams.ts'

interface Queued extends AsyncDisposable {
  /** Undefined: this process. */
  readonly runPhases: RunPhases | undefined
}

/** The queue for a run with `--queue`. pg-boss is loaded only then. @throws db.… codes */
export async function openQueueIf(isAsked: boolean, context: AppContext, settings: DatabaseSettings): Promise<Queued> {
  if (!isAsked) return { runPhases: undefined, [Symbol.asyncDispose]: async () => {} }
  const { openQueue } = await import('../scheduler/open-queue.ts')
  const { fanOut } = await import('../scheduler/fan-out.ts')
  const queue = await openQueue(context, settings)
  context.remark('queued: what runs `livehouse worker` or `livehouse serve` does the work')
  return { runPhases: fanOut(queue), [Symbol.asyncDispose]: async () => await queue[Symbol.asyncDispose]() }
}
