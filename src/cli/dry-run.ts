import { boundsOf, outcomeObject } from '../app/outcome.ts'
import { type PlanRequest, planRun } from '../app/run-extraction.ts'
import type { Stream } from '../core/stream.ts'
import type { PartitionPlan } from '../sync/plan-slices.ts'
import type { CliContext } from './command.ts'
import { formatTable, printResult } from './format.ts'

/** Shows what a run would read. @returns the exit code */
export async function dryRun(
  context: CliContext,
  { isJson, ...request }: PlanRequest & { readonly isJson: boolean },
): Promise<number> {
  const { outcome, plans } = await planRun(context, request)
  const plan = planObject(request.streams, plans)
  printResult(context, isJson, { ...outcomeObject(outcome), dry_run: true, plan }, describe(plan))
  return 0
}

type Plan = ReturnType<typeof planObject>

function planObject(streams: readonly Stream[], plans: readonly PartitionPlan[]) {
  return Object.fromEntries(
    streams.map(({ name }) => {
      const slices = plans.filter(({ stream }) => stream.name === name).flatMap((each) => each.slices)
      const windows = slices.flatMap(({ window }) => window ?? [])
      const from = windows.reduce((first, each) => Math.min(first, each.from), Infinity)
      const to = windows.reduce((last, each) => Math.max(last, each.to), -Infinity)
      return [name, { slices: slices.length, ...boundsOf(windows.length === 0 ? undefined : { from, to }) }]
    }),
  )
}

function describe(plan: Plan): string[] {
  const rows = Object.entries(plan).map(([name, { slices, from, to }]) => [name, slices, from ?? '–', to ?? '–'])
  return [...formatTable(['stream', 'slices', 'from', 'to'], rows), '', 'Nothing was read or written.']
}
