import type { WallTime } from '../../src/core/wall-clock.ts'
import { createWorld, type WorldOptions } from '../../src/emulator/world/create-world.ts'
import { createRowList, type RowList } from '../../src/emulator/world/row-list.ts'

export type RollingWorld = ReturnType<typeof createRollingWorld>

/** A world whose rows come to be as time goes on: that of the options, at first without what lies later than `from`. */
export function createRollingWorld(options: WorldOptions, from: WallTime) {
  const whole = createWorld(options)
  const rolls: ((now: WallTime) => void)[] = []
  const roll = ({ rows }: RowList<object>): RowList<object> => {
    const list = createRowList<object>()
    const left = rows.map(rollLists).sort((a, b) => beginOf(b) - beginOf(a))
    rolls.push((now) => {
      for (let next = left.at(-1); next !== undefined && beginOf(next) <= now; next = left.at(-1)) {
        list.add(next)
        left.pop()
      }
    })
    return list
  }
  /** The same, with lists that grow as time goes on, as those of its rows do. */
  const rollLists = <Holder extends object>(holder: Holder): Holder => {
    const lists = Object.entries(holder).filter((each): each is [string, RowList<object>] => 'rows' in Object(each[1]))
    return lists.length === 0
      ? holder
      : { ...holder, ...Object.fromEntries(lists.map(([name, list]) => [name, roll(list)])) }
  }
  const channels = new Map([...whole.channels].map(([id, channel]) => [id, rollLists(channel)]))
  /** Lets happen what has happened by then. */
  const rollTo = (now: WallTime) => rolls.forEach((roll) => roll(now))
  rollTo(from)
  return { world: { ...whole, channels }, rollTo }
}

/** When a row came to be: the earliest of its times. */
function beginOf(row: object): WallTime {
  const times = Object.entries(row).filter(([name]) => name.endsWith('At'))
  return Math.min(...times.flatMap(([, value]) => (typeof value === 'number' ? [value] : [])))
}
