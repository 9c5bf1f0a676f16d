import { DAY } from '../../src/core/wall-clock.ts'
import { createWorld } from '../../src/emulator/world/create-world.ts'
import { createRowList } from '../../src/emulator/world/row-list.ts'
import type { Channel, Gift, Signup, Visitor, World } from '../../src/emulator/world/world.ts'

export interface WorldSize {
  readonly channels: number
  /** Per channel. */
  readonly visitors: number
  /** Whether it also has records, gifts and questionnaires. Takes a second for about ten thousand viewers. */
  readonly isWhole: boolean
  /** Cash gifts per channel, instead of the generated gifts. */
  readonly gifts?: number
  /** Signups of the only questionnaire per channel, instead of the generated ones. */
  readonly signups?: number
  /** Days since anything happened. */
  readonly quietDays?: number
}

const TIME_ZONE = 'Asia/Shanghai'
const TEMPLATE_VIEWERS = 2000

/**
 * Creates a whole world, or one of visitors only. These repeat the visitors of a generated channel under other ids,
 * which takes a second per million instead of a minute.
 */
export function benchWorld(size: WorldSize, now: number): World {
  const { channels, visitors, isWhole, gifts, signups, quietDays = 0 } = size
  const options = { seed: 1, days: 30, endsAt: now - quietDays * DAY, timeZone: TIME_ZONE }
  if (isWhole) {
    const world = createWorld({ ...options, channels, viewers: visitors })
    for (const channel of world.channels.values()) {
      if (gifts !== undefined) fillGifts(channel, gifts, options.endsAt)
      if (signups !== undefined) fillSignups(channel, signups, options.endsAt)
    }
    return world
  }
  const template = createWorld({ ...options, channels: 1, viewers: Math.min(visitors, TEMPLATE_VIEWERS) })
  const [model] = template.channels.values()
  if (model === undefined) throw new Error('a world without a channel')
  const copies = Array.from({ length: channels }, (_, index) => copyOf(model, index, visitors))
  return { ...template, channels: new Map(copies.map((channel) => [channel.id, channel])) }
}

function copyOf(model: Channel, index: number, count: number): Channel {
  const { rows } = model.visitors
  const visitors = Array.from({ length: count }, (_, place): Visitor => {
    const row = rows[place % rows.length]
    if (row === undefined) throw new Error('a channel without a visitor')
    return { ...row, userId: userId(index, place), lastOnlineAt: row.lastOnlineAt - Math.floor(place / rows.length) }
  })
  return {
    ...model,
    id: String(20_000_000 + index),
    visitors: createRowList(visitors),
    records: createRowList(),
    oldRecords: createRowList(),
    gifts: createRowList(),
    questionnaires: createRowList(),
  }
}

/** Replaces the gifts by others, evenly over thirty days. */
function fillGifts({ gifts }: Channel, count: number, endsAt: number): void {
  const [model] = gifts.rows
  if (model === undefined) throw new Error('a channel without a gift')
  for (const gift of [...gifts.rows].reverse()) gifts.remove(gift)
  const every = (30 * DAY) / count
  const newGifts = Array.from({ length: count }, (_, place): Gift => {
    return { ...model, type: 'cash', giftId: place, givenAt: Math.floor(endsAt - place * every) }
  })
  gifts.add(...newGifts)
}

/** Replaces the signups by others, nine of ten within two hours on ten evenings: people sign up when they watch. */
function fillSignups({ questionnaires }: Channel, count: number, endsAt: number): void {
  const [form, ...others] = questionnaires.rows
  const [model] = form?.signups.rows ?? []
  if (form === undefined || model === undefined) throw new Error('a channel without a signup')
  for (const other of others) questionnaires.remove(other)
  const newSignups = Array.from({ length: count }, (_, place): Signup => {
    const [evening, within] = [place % 10, Math.floor(place / 10) / (count / 10)]
    const ago = place % 100 < 10 ? within * 30 * DAY : evening * 3 * DAY + within * 7200
    return { ...model, userId: String(place), signedUpAt: Math.floor(endsAt - 1 - ago) }
  })
  questionnaires.replace(form, { ...form, signups: createRowList(newSignups) })
}

/** Digits, hexadecimal, or base 36 behind a letter so that it differs from the others; unique within the channel. */
function userId(channel: number, place: number): string {
  const number = channel * 10_000_000 + place
  if (place % 10 < 4) return String(100_000_000 + number * 7)
  if (place % 10 < 7) return (Math.imul(number, 2_654_435_761) >>> 0).toString(16) + (16_777_216 + place).toString(16)
  return `u${((number * 48_271) % 46_656).toString(36)}${place.toString(36).padStart(6, '0')}`
}

/** Gives every hundredth visitor (for a share of 0.01) one more visit. @returns how many have changed */
export function changeVisitors(world: World, share: number): number {
  let changed = 0
  const every = Math.round(1 / share)
  for (const { visitors } of world.channels.values()) {
    const chosen = visitors.rows.filter((_, place) => place % every === 0)
    for (const row of chosen) visitors.replace(row, { ...row, visitTimes: row.visitTimes + 1 })
    changed += chosen.length
  }
  return changed
}
