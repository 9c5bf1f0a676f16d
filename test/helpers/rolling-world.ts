import type { WallTime } from '../../src/core/wall-clock.ts'
import { createWorld, type WorldOptions } from '../../src/emulator/world/create-world.ts'
import { createRowList, type RowList } from '../../src/emulator/world/row-list.ts'

export type RollingWorld = ReturnType<typeof createRollingWorld>

/** Creates a world whose rows appear as time passes: the world of the options, at first without rows after `from`. */
export function createRollingWorld(options: WorldOptions, from: WallTime) {
  const whole = createWorld(options)
  const rolls: ((now: WallTime) => void)[] = []
  const roll = ({ rows }: RowList<object>): RowList<object> => {
    const list = createRowList<object>()
    const upcoming = rows.map(rollLists).sort((a, b) => beginOf(b) - beginOf(a))
    rolls.push((now) => {
      for (let next = upcoming.at(-1); next !== undefined && beginOf(next) <= now; next = upcoming.at(-1)) {
        list.add(next)
        upcoming.pop()
      }
    })
    return list
  }
  /** Copies an object with lists that grow as time passes, down to the lists of their rows. */
  const rollLists = <Holder extends object>(holder: Holder): Holder => {
    const lists = Object.entries(holder).filter((each): each is [string, RowList<object>] => 'rows' in Object(each[1]))
    return lists.length === 0
      ? holder
      : { ...holder, ...Object.fromEntries(lists.map(([name, list]) => [name, roll(list)])) }
  }
  const channels = new Map([...whole.channels].map(([id, channel]) => [id, rollLists(channel)]))
  /** Adds the rows up to this time. */
  const rollTo = (now: WallTime) => rolls.forEach((roll) => roll(now))
  rollTo(from)
  return { world: { ...whole, channels }, rollTo }
}

/** When a row appears: the earliest of its times. */
function beginOf(row: object): WallTime {
  const times = Object.entries(row).filter(([name]) => name.endsWith('At'))
  return Math.min(...times.flatMap(([, value]) => (typeof value === 'number' ? [value] : [])))
}
