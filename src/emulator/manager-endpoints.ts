import type { AccountList, ListQuery, Source } from './endpoint.ts'
import { selectRows, type Selection } from './select-rows.ts'
import { listField, servePage, totalField } from './serve-page.ts'
import { wireInteger, wireSecond } from './wire.ts'
import type { Manager } from './world/world.ts'

/** API 4.8: the default page holds one manager. */
export const managersUsage: AccountList = {
  scope: 'account',
  family: 'errors',
  defaultPageSize: 1,
  maxPageSize: 10,
  pageParam: 'p',
  sizeParam: 'perPage',
  readFilters: (reader) => ({ username: reader.text('username') }),
  serve: (query, source) =>
    servePage(query, {
      family: 'errors',
      selection: selectManagers(query, source),
      switches: source.switches,
      toWire: toUsage,
      envelope: (items, total, { page, pageSize }) => ({
        page: { p: page, perPage: pageSize, count: totalField(total, source.switches) },
        ...listField('data', items, source.switches),
      }),
      cacheKey: `managersUsage|${source.world.managers.version}`,
    }),
}

/** API 4.9: it echoes `perPage` as text. */
export const managers: AccountList = {
  scope: 'account',
  family: 'errors',
  defaultPageSize: 20,
  maxPageSize: 100,
  pageParam: 'p',
  sizeParam: 'perPage',
  readFilters: () => ({}),
  serve: (query, source) =>
    servePage(query, {
      family: 'errors',
      selection: selectManagers(query, source),
      switches: source.switches,
      toWire: toListing,
      envelope: (items, total, { page, pageSize }) => ({
        page: { p: page, perPage: String(pageSize), count: totalField(total, source.switches) },
        ...listField('data', items, source.switches),
      }),
      cacheKey: `managers|${source.world.managers.version}`,
    }),
}

function selectManagers({ username }: ListQuery, { world, switches }: Source): Selection<Manager> {
  return selectRows(world.managers, {
    time: { name: 'none', of: () => 0 },
    keep: username ? { name: `username=${username}`, accepts: (row) => row.username === username } : undefined,
    ends: switches.filterEnds,
    order: switches.managerOrder,
    identityOf: (row) => row.id,
  })
}

function toUsage(row: Manager): object {
  return {
    id: wireInteger(row.id),
    username: row.username,
    create_date: row.createdOn,
    belong_to: wireInteger(row.belongTo),
    act_num: row.channelCount,
    last_login_time: row.lastLoginAt === null ? '' : wireSecond(row.lastLoginAt),
    last_push_stream_time: row.lastPushAt === null ? '' : wireSecond(row.lastPushAt),
    cost_limit_notification: row.notifiesCostLimit ? 1 : 0,
    limit_type: row.limitType,
    outer_id: row.outerId,
    is_open_redpack: row.hasRedpack,
    is_open_live_notify: row.hasLiveNotify,
    costType: row.costType,
    costLimit: row.costLimit,
    costTotalWatchTime: row.costTotalWatch,
    costVodWatchTime: row.costVodWatch,
    costLiveWatchTime: row.costLiveWatch,
    costTransfer: row.costTransfer,
  }
}

function toListing(row: Manager): object {
  return {
    id: wireInteger(row.id),
    limit_type: row.limitType,
    transfer_limit: row.trafficLimit,
    time_limit: row.timeLimit,
    username: row.username,
    belong_to: wireInteger(row.belongTo),
    pay_type: row.payType,
  }
}
