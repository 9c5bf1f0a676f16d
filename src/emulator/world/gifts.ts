import type { WallTime } from '../../core/wall-clock.ts'
import { choosePhone } from './names.ts'
import type { Random } from './random.ts'
import type { Session } from './sessions.ts'
import type { Gift, Visitor } from './world.ts'

/** The gift id of a cash reward; props are numbered from 101. */
const CASH_GIFT_ID = 27

const PROP_PRICES = ['0.00', '0.10', '1.00', '5.20', '6.66', '66.00', '520.00'] as const

/** Rewards given while a channel was live, with some equal ones within one second. */
export function createGifts(
  random: Random,
  visitors: readonly Visitor[],
  sessions: readonly [Session, ...Session[]],
): Gift[] {
  const gifts: Gift[] = []
  for (const visitor of visitors) {
    if (!random.chance(0.15)) continue
    const session = random.pick(sessions)
    const gift = createGift(random, visitor, random.between(session.startsAt, session.endsAt - 1))
    gifts.push(gift)
    if (random.chance(0.04)) gifts.push({ ...gift })
    const neighbour = visitors[random.between(0, visitors.length - 1)]
    if (neighbour && random.chance(0.03)) gifts.push({ ...gift, ...giverOf(random, neighbour) })
  }
  return gifts.sort((a, b) => a.givenAt - b.givenAt)
}

function createGift(random: Random, visitor: Visitor, givenAt: WallTime): Gift {
  const giver = giverOf(random, visitor)
  if (random.chance(0.35)) {
    const cents = random.between(1, 20_000)
    return { type: 'cash', giftId: CASH_GIFT_ID, money: (cents / 100).toFixed(2), givenAt, ...giver }
  }
  const prop = random.between(0, PROP_PRICES.length - 1)
  return { type: 'prop', giftId: 101 + prop, money: PROP_PRICES[prop] ?? '0.00', givenAt, ...giver }
}

function giverOf(random: Random, visitor: Visitor): Pick<Gift, 'visitorId' | 'visitorName' | 'phone' | 'showsVisitor'> {
  const phone = visitor.phone === '' && random.chance(0.1) ? choosePhone(random) : visitor.phone
  return { visitorId: visitor.userId, visitorName: visitor.nick, phone, showsVisitor: random.chance(0.4) }
}
