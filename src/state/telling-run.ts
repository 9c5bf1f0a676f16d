import { sql } from 'kysely'
import { distinctValues } from './distinct-values.ts'

/** Every command that a run is on record of, as the column `value` of a subquery. */
export const runCommands = distinctValues('livehouse_ops.runs', 'command')

/** For a lateral join with `commands`: the run that says how its command stands. Of those that are under way nothing is known yet. */
export const tellingRun = sql`(
  select * from livehouse_ops.runs
  where runs.command = commands.value and status not in ('running', 'interrupted')
    -- One that was only interrupted is gone on with: the one before it counts.
    and not coalesce(outcome -> 'errors' <> '[]' and not jsonb_path_exists(outcome, '$.errors[*] ? (@.code != "run.interrupted")'), false)
  order by finished_at desc nulls last, run_id desc limit 1)`
