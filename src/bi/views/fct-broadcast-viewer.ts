import { type BiView, bigint, bool, double, instant, text } from '../view.ts'
import { broadcastColumns, giftColumns, giftSums, isDuring, liveSum, signupColumns } from './fct-broadcast.ts'
import { broadcasts, visitsOfBroadcast } from './fragments/broadcasts.ts'
import { joinPerson, viewerKey } from './fragments/identity.ts'
import { duration, moment } from './fragments/local-time.ts'
import { bareLink, personalColumn } from './fragments/masks.ts'
import { province } from './fragments/places.ts'
import { isTest, namedViewer } from './fragments/shared-columns.ts'

const firstValue = (sql: string) =>
  `(array_agg(${sql} order by w.entered_at, w.record_id) filter (where ${sql} is not null))[1]`

/** Sums over the rows of a fact view during a broadcast, for each viewer that they name. */
const sumsDuring = (view: string, at: string, sums: string) => `(
    select b.channel_id, b.from_no, g.viewer_key, ${sums}
    from ${broadcasts} b join livehouse_bi.${view} g on g.channel_id = b.channel_id and ${isDuring(`g.${at}`)}
    where g.viewer_key is not null group by b.channel_id, b.from_no, g.viewer_key
  )`
const isSameViewer = (other: string) =>
  `${other}.channel_id = b.channel_id and ${other}.from_no = b.from_no
    and ${other}.viewer_key = ${viewerKey('b.channel_id', 'w.user_id')}`

export const fctBroadcastViewer: BiView = {
  name: 'fct_broadcast_viewer',
  grain: { en: 'A viewer of a broadcast', zh: '一场直播的一位观众' },
  remarks: {
    en: 'Visits that name no viewer are left out. Gifts and signups are those that can be matched to the viewer.',
    zh: '不含未识别观众的访问。礼物与报名仅计能匹配到该观众的。',
  },
  key: ['broadcast_key', 'viewer_key'],
  columns: {
    ...broadcastColumns,
    ...namedViewer('w'),
    visits: bigint('w.visits', 'Visits', '访问次数'),
    ...moment('joined', instant('to_timestamp(w.from_no)', 'When the viewer joined', '本场首次进入时刻')),
    ...moment('left', instant('to_timestamp(w.to_no)', 'When the viewer last left', '本场最后离开时刻')),
    ...duration(
      'stay',
      bigint(
        'least(w.stay_seconds, b.to_no - b.from_no)::bigint',
        'Time spent in the broadcast, in seconds, at most its duration',
        '在场时长（秒），至多为场次时长',
      ),
    ),
    ...duration('live', bigint('w.live_seconds::bigint', 'Live watch time in seconds', '直播观看时长（秒）')),
    share_of_broadcast: double(
      'least(w.stay_seconds::double precision / (b.to_no - b.from_no), 1)',
      'stay_seconds as a share of the broadcast, 0 to 1',
      '在场时长占场次的比例（0–1）',
    ),
    ...giftColumns,
    ...signupColumns,
    access_source: personalColumn(
      'access_source',
      text('w.access_source', 'Link of the first visit that has one, without query string', '首个来源（不含查询参数）'),
    ),
    device: text('w.device', 'Device of the first visit that has one', '首个有设备的访问的设备'),
    province: text('w.province', 'Province of the first visit that has one', '首个有省份的访问的省份'),
    is_new: bool(
      isDuring('f.first_login_at'),
      'Whether the first entry in the visitor list was during it; NULL if that is unknown',
      '首次进入是否在本场期间（以访客列表为准）；未知为 NULL',
    ),
    ...isTest('b.channel_id'),
  },
  from: `from ${broadcasts} b
  cross join lateral (
    select w.channel_id, w.user_id, count(*) as visits, min(w.from_no) as from_no, max(w.to_no) as to_no,
      sum(w.to_no - w.from_no) as stay_seconds, ${liveSum} as live_seconds,
        ${firstValue(bareLink('w.access_source'))} as access_source,
      ${firstValue('w.device')} as device, ${firstValue(province('w.address'))} as province
    from (select w.*, t.* from ${visitsOfBroadcast}) w where w.user_id is not null group by w.channel_id, w.user_id
  ) w
  left join livehouse.visitors f on f.channel_id = w.channel_id and f.user_id = w.user_id
  left join livehouse_ops.channel_coverage c on c.channel_id = b.channel_id
  ${joinPerson('w.channel_id', 'w.user_id')}
  left join ${sumsDuring('fct_gift', 'given_at', giftSums)} g on ${isSameViewer('g')}
  left join ${sumsDuring('fct_signup', 'signed_up_at', 'count(*) as signups')} u on ${isSameViewer('u')}`,
}
