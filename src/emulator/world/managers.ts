import { DAY, formatWallDate, type WallTime } from '../../core/wall-clock.ts'
import type { Random } from './random.ts'
import type { Manager } from './world.ts'

const USERNAMES = ['009', 'admin', '0x1F', '华东分部', 'live_ops', '1e3', '运营-小王'] as const

/** Sub-accounts of one main account: empty times, digits as names, limits that contradict their kind. */
export function createManagers(
  random: Random,
  count: number,
  mainAccountId: string,
  channels: number,
  to: WallTime,
): Manager[] {
  return Array.from({ length: count }, (_, index) => createManager(random, index, mainAccountId, channels, to))
}

function createManager(random: Random, index: number, mainAccountId: string, channels: number, to: WallTime): Manager {
  const limitType = random.chance(0.7) ? 1 : 2
  const isNew = index === 0 || random.chance(0.3)
  const lastLoginAt = isNew ? null : to - random.between(60, 90 * DAY)
  const live = isNew ? 0 : random.between(0, 500_000)
  const vod = isNew ? 0 : random.between(0, 90_000)
  return {
    id: String(41_382 + index * 13),
    username: USERNAMES[index] ?? `user${String(index).padStart(3, '0')}`,
    belongTo: mainAccountId,
    limitType,
    trafficLimit: random.chance(0.3) ? 1243 : 0,
    timeLimit: random.chance(0.3) ? 60 : 0,
    payType: random.between(1, 2),
    createdOn: formatWallDate(to - random.between(100, 1500) * DAY),
    channelCount: index === 1 ? channels : 0,
    lastLoginAt,
    lastPushAt: lastLoginAt === null || random.chance(0.4) ? null : lastLoginAt - random.between(0, 20 * DAY),
    notifiesCostLimit: random.chance(0.3),
    outerId: random.chance(0.2) ? `guest-${random.hash(6)}` : random.chance(0.5) ? null : '',
    hasRedpack: random.chance(0.5),
    hasLiveNotify: random.chance(0.5),
    costType: limitType === 1 ? random.pick(['时长(分钟)', '时长（分钟）']) : '流量(GB)',
    costLimit: random.chance(0.6) ? 0 : 100_000,
    costTotalWatch: live + vod,
    costVodWatch: vod,
    costLiveWatch: live,
    costTransfer: limitType === 2 && !isNew ? random.between(1, 90_000) / 100 : 0,
  }
}
