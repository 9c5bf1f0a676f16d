import { type Answer, jsonAnswer, refusals, refuse } from './answer.ts'
import { countTruth, type Truth } from './truth.ts'
import type { World } from './world/world.ts'

/** `/__truth`, `/__truth/counts` and `/__truth/TABLE`: for checks from another process; undefined for other paths. */
export function answerTruth(path: string, world: World, read: () => Truth): Answer | undefined {
  const [, root, table, ...rest] = path.split('/')
  if (root !== '__truth' || rest.length > 0) return undefined
  if (table === undefined) return jsonAnswer(read())
  if (table === 'counts') return jsonAnswer(countTruth(world))
  const rows = Object.entries(read()).find(([name]) => name === table)?.[1]
  return rows ? jsonAnswer(rows) : refuse('errors', refusals.notFound('table'), 'matching')
}
