import { refusals } from './answer.ts'
import type { ChannelList } from './endpoint.ts'
import { selectRows } from './select-rows.ts'
import { servePage } from './serve-page.ts'
import type { Switches } from './switches.ts'
import { wireSecond } from './wire.ts'
import type { Gift } from './world/world.ts'

const given = { name: 'given', of: (row: Gift) => row.givenAt }

/** API 4.12. */
export const giftRunning: ChannelList = {
  scope: 'channel',
  family: 'errors',
  defaultPageSize: 20,
  maxPageSize: 100,
  pageParam: 'p',
  sizeParam: 'perPage',
  readFilters: (reader) => {
    const giftType = reader.choice('type', ['cash', 'prop'])
    if (giftType === undefined) reader.refuse(refusals.missing('type'))
    return { giftType, from: reader.time('startTime'), to: reader.time('endTime') }
  },
  serve: (query, { switches }, channel) =>
    servePage(query, {
      family: 'errors',
      selection: selectRows(channel.gifts, {
        time: given,
        keep: { name: `type=${query.giftType}`, accepts: (row) => row.type === query.giftType },
        from: query.from,
        to: query.to,
        ends: switches.filterEnds,
        order: switches.giftOrder,
        identityOf: (row) => `${row.givenAt}/${row.visitorId}`,
      }),
      switches,
      toWire: (row) => toWire(row, switches),
      envelope: (items) => items,
      cacheKey: `giftRunning|${channel.id}|${channel.gifts.version}`,
    }),
}

function toWire(row: Gift, { giftVisitor }: Readonly<Switches>): object {
  const isShown = giftVisitor === 'always' || (giftVisitor === 'some' && row.showsVisitor)
  return {
    ...(isShown ? { visitor_id: row.visitorId, name: row.visitorName } : {}),
    gift_id: row.giftId,
    phone: row.phone,
    money: row.money,
    uptime: wireSecond(row.givenAt),
  }
}
