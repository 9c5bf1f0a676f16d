import { LivehouseError } from '../core/errors.ts'
import { didYouMean } from './suggest.ts'

/** The first bare word after a verb, as one of its actions. @throws usage.invalid */
export function chooseAction<A extends string>(verb: string, given: string | undefined, actions: readonly A[]): A {
  const action = actions.find((known) => known === given)
  if (action !== undefined) return action
  const list = `; the actions are ${actions.join(', ')}`
  const problem =
    given === undefined
      ? `no action is given${list}`
      : `there is no action ${JSON.stringify(given)}${didYouMean(given, actions) || list}`
  throw new LivehouseError('usage.invalid', `wrong use, see livehouse ${verb} --help`, { problems: [problem] })
}
