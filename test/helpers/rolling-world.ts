import type { WallTime } from '../../src/core/wall-clock.ts'
import { createWorld, type WorldOptions } from '../../src/emulator/world/create-world.ts'
import { createRowList, type RowList } from '../../src/emulator/world/row-list.ts'
import type { Channel, Questionnaire } from '../../src/emulator/world/world.ts'

export type RollingWorld = ReturnType<typeof createRollingWorld>

/** A world whose rows come to be as time goes on: that of the options, at first without what lies later than `from`. */
export function createRollingWorld(options: WorldOptions, from: WallTime) {
  const whole = createWorld(options)
  const rolls: ((now: WallTime) => void)[] = []
  const rolling = <Row extends object>({ rows }: RowList<Row>, timeOf: (row: Row) => WallTime): RowList<Row> => {
    const list = createRowList<Row>()
    const left = [...rows].sort((a, b) => timeOf(b) - timeOf(a))
    rolls.push((now) => {
      for (let next = left.at(-1); next !== undefined && timeOf(next) <= now; next = left.at(-1)) {
        list.add(next)
        left.pop()
      }
    })
    return list
  }
  const questionnaireOf = (form: Questionnaire): Questionnaire => {
    return { ...form, signups: rolling(form.signups, (row) => row.signedUpAt) }
  }
  const channelOf = (channel: Channel): Channel => ({
    ...channel,
    visitors: rolling(channel.visitors, (row) => row.firstLoginAt),
    records: rolling(channel.records, (row) => row.enteredAt),
    gifts: rolling(channel.gifts, (row) => row.givenAt),
    questionnaires: rolling(createRowList(channel.questionnaires.rows.map(questionnaireOf)), (row) => row.createdAt),
  })
  const channels = new Map([...whole.channels].map(([id, channel]) => [id, channelOf(channel)]))
  /** Lets happen what has happened by then. */
  const rollTo = (now: WallTime) => rolls.forEach((roll) => roll(now))
  rollTo(from)
  return { world: { ...whole, channels }, rollTo }
}
