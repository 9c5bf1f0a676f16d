import { questionStreamOf, streams } from '../../streams/registry.ts'
import { type BiView, bigint, bool, date, instant, localTime, text } from '../view.ts'
import { localDay } from './fragments/local-time.ts'

const byChannel = streams.flatMap(({ name, partitionedBy, types, isTimeFiltered }) => {
  if (partitionedBy === 'channel') return [`('${name}', '', ${isTimeFiltered})`]
  return (types ?? []).map((type) => `('${name}', '/type=${type}', ${isTimeFiltered})`)
})
/** Whether a stream of channel `c` is read, or any of its parts was: then all of its parts are expected. */
const isRead = (stream: string) => `(c.state = 'active'
            or (c.channel_id, ${stream}) in (select channel_id, stream from livehouse_ops.latest_readings))`
const byQuestion = streams.flatMap((stream) => {
  const list = questionStreamOf(stream)
  return list === undefined
    ? []
    : `
          union all
          select '${stream.name}', 'channel=' || q.channel_id || '/question=' || q.question_id, ${stream.isTimeFiltered}
          from livehouse.${list.table} q join livehouse.channels c on c.channel_id = q.channel_id
            and ${isRead(`'${stream.name}'`)}`
})
const byAccount = streams.flatMap(({ name, partitionedBy }) => (partitionedBy === 'account' ? [`('${name}')`] : []))

/** Everything that a sync of all streams reads, or once read, so that what was never read shows up too. */
const expectedParts = `(
          select x.stream, 'channel=' || c.channel_id || x.part as partition, x.is_filtered
          from livehouse.channels c cross join (values ${byChannel.join(', ')}) x (stream, part, is_filtered)
          where ${isRead('x.stream')}${byQuestion.join('')}
          union all
          select x.stream, 'account', false from (values ${byAccount.join(', ')}) x (stream)
        )`

/** A channel that has been read up to its end lacks nothing since. */
const firstEnd = `case when r.first_end >= c.read_until + 1 then ${localDay('now()')} else r.first_end end`

export const freshness: BiView = {
  name: 'freshness',
  grain: { en: 'A stream of a channel, or of the account', zh: '一个频道（或账号）的一个数据流' },
  remarks: {
    en:
      'How far the data of the service has been read. Streams with a time filter cover ranges; of the others the ' +
      'whole list is read each time. If a channel has several parts (types of gifts, questionnaires), the one that ' +
      'is covered least counts. What has never been read is listed without times; of a channel that is no longer ' +
      'read, only streams of which some part has been read.',
    zh: '各数据流读取到哪里。按时间过滤的数据流按区间覆盖；其余每次整表读取。一个频道有多个部分（礼物类型、问卷）时，以覆盖最少者为准。从未读取过的也列出，时间为空；不再读取的频道仅列出读取过任一部分的数据流。',
  },
  key: ['stream', 'channel_id'],
  columns: {
    stream: text('f.stream', 'Name of the stream, as in sync --streams', '数据流名称（同 sync --streams）'),
    channel_id: text('f.channel_id', 'Channel id; NULL for streams of the account', '频道 ID；账号级数据流为 NULL'),
    covered_from: localTime(
      'f.covered_from',
      'Start of the covered range, in the local time of the service; NULL for whole lists, and if a part is not ' +
        'covered at all',
      '覆盖范围的开始（服务所在时区）；整表读取或有部分从未覆盖时为 NULL',
    ),
    covered_until: localTime(
      'f.covered_until',
      'End of the covered range, in the local time of the service; for whole lists, start of the last proven reading',
      '覆盖范围的结束（服务所在时区）；整表读取时为最近一次成功读取的开始',
    ),
    complete_through: date('f.complete_through', 'Last day up to which nothing is missing', '无缺口的最后一天'),
    gap_count: bigint('f.gap_count', 'Number of gaps; livehouse status lists them', '覆盖范围内的缺口数'),
    last_landed_at: instant('f.last_landed_at', 'When a reading last landed', '最近一次成功写入的时刻'),
    last_read_at: instant('f.last_read_at', 'When it was last read, landed or not', '最近一次读取的时刻（无论成败）'),
    last_proof: text(
      'f.last_proof',
      'Proof of the last reading: verified, agreed, unverifiable, moving, short, accepted or failed; the worst of ' +
        'the parts; NULL if one has never been read',
      '最近一次读取的证明：verified、agreed、unverifiable、moving、short、accepted 或 failed（取各部分中最差者；有部分从未读取时为 NULL）',
    ),
    is_proven: bool(
      `coalesce(f.last_proof in ('verified', 'agreed'), false)`,
      'Whether the last reading of every part was proven: verified or agreed',
      '各部分最近一次读取是否均已证明（verified 或 agreed）',
    ),
  },
  from: `from (
    select p.stream, p.channel_id,
      case when bool_and(p.covers is not null) then max(lower(p.covers)) end as covered_from,
      case when not bool_or(p.is_filtered) then min(p.walked_at) at time zone '{zone}'
        when bool_and(p.covers is not null) then min(upper(p.covers)) end as covered_until,
      case when not bool_or(p.is_filtered) then (min(p.walked_at) at time zone '{zone}')::date - 1
        when bool_and(p.covers is not null) then min(p.first_end)::date - 1 end as complete_through,
      max(p.landed_at) as last_landed_at, max(p.latest_at) as last_read_at,
      coalesce(sum(p.gaps), 0)::bigint as gap_count,
      case when bool_and(p.proof is not null) then (array_agg(p.proof order by
        array_position(array['failed', 'short', 'moving', 'accepted', 'unverifiable', 'agreed', 'verified'],
          p.proof)))[1] end as last_proof
    from (
      select s.*, substring(s.partition from '^channel=([^/]+)') as channel_id, r.gaps,
        ${firstEnd} as first_end
      from (
        select stream, partition, coalesce(r.is_windowed, e.is_filtered) as is_filtered, r.walked_at, r.landed_at,
          r.latest_at, r.latest_proof as proof, nullif(r.covers, '{}') as covers
        from livehouse_ops.latest_readings r full join ${expectedParts} e using (stream, partition)
        where partition not in (select partition from livehouse_ops.unlisted_questionnaires)
      ) s
      left join livehouse.channels c on c.channel_id = substring(s.partition from '^channel=([^/]+)')
      left join lateral (select min(upper(x)) as first_end, count(*) - 1 as gaps
        from unnest(s.covers) x) r on s.covers is not null
    ) p group by p.stream, p.channel_id
  ) f`,
}
