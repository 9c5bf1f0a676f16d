import { type BaseTable, bigint, date, instant, integer, place, range, ranges, text } from '../base-table.ts'

/** What readings have found: missing and unreadable rows, shortfalls, facts about the service. */
export const findingTables: Readonly<Record<string, BaseTable>> = {
  'livehouse_ops.missed_rows': {
    words: {
      en: 'Rows that the last proven reading of their walk or window did not find; when the next one misses them too they are marked as removed',
      zh: '所属整表或区间最近一次经证明的读取未找到的行；下一次仍未找到则标记为已移除',
    },
    key: ['stream', 'partition', 'row_key'],
    columns: {
      stream: text('Stream of the row', '行所属的数据流'),
      partition: text('Partition of the row, such as channel=9', '行所属的分区，如 channel=9'),
      row_key: text("The part of the row's key that the partition does not name", '行主键中分区未给出的部分'),
      missed_at: instant('When it was missed', '未找到的时间'),
      run_id: bigint('The run that missed it', '未找到它的运行'),
    },
  },
  'livehouse_ops.quarantine': {
    words: {
      en: 'Received items that could not become rows; none is ever dropped',
      zh: '收到但无法成为行的条目；从不丢弃',
    },
    key: ['stream', 'partition', 'item_hash', 'ordinal'],
    columns: {
      ...place,
      item_hash: text('Hash of the item as it was received', '所收到条目的散列'),
      ordinal: integer('From 1, among equal items of one slice', '同一切片中相同条目的序号，从 1 起'),
      raw: text('The item as JSON text', '条目的 JSON 文本'),
      reason: text('Why it could not be read, with the value that shows it', '无法读取的原因，附相关的值'),
      path: text(
        'Where in the item, such as user_id; empty for the item itself',
        '在条目中的位置，如 user_id；条目本身则为空',
      ),
      slice_id: bigint('The last slice that received it', '最近收到它的切片'),
      run_id: bigint('The last run that received it', '最近收到它的运行'),
      first_seen_at: instant('When it was first received', '首次收到的时间'),
      last_seen_at: instant(
        'When it was last received, to the day: it moves at most once a day of the service',
        '最近收到的时间，精确到日：每个服务日最多变动一次',
      ),
      resolved_at: instant(
        'When it became a row, or proven readings of all where it may lie no longer brought it; NULL while it is unreadable, and again when it comes back',
        '成为行的时间，或其可能所在的全部范围经证明的读取不再包含它的时间；仍无法读取时为 NULL，再次出现时恢复为 NULL',
      ),
      headers: text(
        'The column headers over the item as JSON text (API 4.11); NULL where there are none',
        '条目的列标题 JSON 文本（API 4.11）；没有则为 NULL',
      ),
      lies_in: ranges(
        "Where the item may lie, in the service's time: what was asked for when it came, without what was read later and did not bring it; NULL for whole lists",
        '条目可能所在的范围（服务时间）：收到它时所请求的范围，减去之后读取而未再包含它的范围；完整列表为 NULL',
      ),
    },
  },
  'livehouse_ops.unknown_fields': {
    words: {
      en: 'Fields of the source that the interface description does not know; each is reported once',
      zh: '接口文档未说明的源字段；每个只报告一次',
    },
    key: ['stream', 'field'],
    columns: {
      stream: text('Stream of the field', '字段所属的数据流'),
      field: text('Name of the field at the source; its values stand in extra', '源字段名；其值在 extra 中'),
      first_seen_at: instant('When it was first seen', '首次看到的时间'),
      run_id: bigint('The run that first saw it', '首次看到它的运行'),
    },
  },
  'livehouse_ops.known_fields': {
    words: {
      en: 'Fields that items of a partition have had; where a slice has one in none of its items any more, the interface has changed',
      zh: '某分区条目曾有的字段；若某切片的任何条目都不再有该字段，则接口已变更',
    },
    key: ['stream', 'partition', 'field'],
    columns: {
      ...place,
      field: text('Name of the field at the source', '源字段名'),
      missing_since: instant(
        'When a slice first had it in none of its items; NULL while it is there',
        '首次在某切片的所有条目中缺失的时间；仍存在时为 NULL',
      ),
      accepted_at: instant(
        'When an operator accepted that it is missing; NULL where nobody has',
        '运营者认可其缺失的时间；无人认可时为 NULL',
      ),
      reason: text('Why, in the words of the operator', '运营者给出的理由'),
    },
  },
  'livehouse_ops.reopened_ranges': {
    words: {
      en: 'Ranges in which an audit found a difference, until they have been read again',
      zh: '核对发现差异的范围，直到重新读取为止',
    },
    key: ['stream', 'partition', 'range'],
    columns: {
      ...place,
      range: range("Half-open, in the service's time", '半开区间（服务时间）'),
      reopened_at: instant('When the audit took it out of what is covered', '核对将其移出已覆盖范围的时间'),
    },
  },
  'livehouse_ops.channel_states': {
    words: {
      en: 'Channels that the service did not know in the last run that asked for them; a channel that answered has no row',
      zh: '最近一次运行中服务端不认识的频道；有应答的频道没有行',
    },
    key: ['channel_id'],
    columns: {
      channel_id: text('Channel id', '频道 ID'),
      unknown_days: integer(
        'Days of the service on which it did not know the channel, without an answer in between; from the third on it is gone',
        '服务端不认识该频道的天数（其间无应答）；自第三天起视为 gone',
      ),
      run_id: bigint('The last run that was told so', '最近一次得知此事的运行'),
      last_unknown_on: date(
        'The last of these days; a channel that is gone is asked for once a day',
        '其中最近一天；gone 的频道每天询问一次',
      ),
    },
  },
  'livehouse_ops.acceptances': {
    words: {
      en: 'Shortfalls that an operator has acknowledged (livehouse accept): up to their size they no longer make runs partial',
      zh: '运营者认可的缺口（livehouse accept）：在其数量之内不再使运行成为 partial',
    },
    key: ['acceptance_id'],
    columns: {
      acceptance_id: bigint('Number of the acceptance', '认可编号'),
      stream: text('Stream that falls short', '有缺口的数据流'),
      channel_id: text(
        'Channel that falls short, in all its partitions; NULL for a stream of the account',
        '有缺口的频道（含其全部分区）；账号级数据流为 NULL',
      ),
      ranges: ranges(
        'Ranges of the wall clock in which it fell short; NULL for a walk over a whole list',
        '有缺口的时间区间（服务钟面时间）；整表读取时为 NULL',
      ),
      missing_rows: bigint(
        'Size: so many rows may be missing; more are short again',
        '数量：最多可缺少的行数；超出则重新视为缺口',
      ),
      reason: text('Why it is accepted, in the words of the operator', '认可理由，运营者原话'),
      accepted_at: instant('When it was accepted', '认可时间'),
      expires_at: instant('From then on it no longer counts', '自此不再有效'),
      withdrawn_at: instant(
        'When it was taken back, or a larger one took its place; NULL while it stands',
        '被撤回或被更大的认可取代的时间；有效期间为 NULL',
      ),
    },
  },
  'livehouse_ops.acceptance_uses': {
    words: {
      en: 'How much of an acceptance the slices of one run have taken together: its size holds for all of them',
      zh: '一次运行的各切片共同占用了某次认可的多少：认可的数量由它们共享',
    },
    key: ['acceptance_id', 'run_id'],
    columns: {
      acceptance_id: bigint('The acceptance', '认可编号'),
      run_id: bigint('The run', '运行编号'),
      missing_rows: bigint('Rows that its accepted slices lack together', '其被认可的切片共缺少的行数'),
    },
  },
  'livehouse_ops.source_facts': {
    words: {
      en: 'What the documents of the service leave open and livehouse probe has found out; nothing that is read depends on it',
      zh: '服务文档未说明而由 livehouse probe 探明的事项；读取的内容不依赖于此',
    },
    key: ['topic', 'subject'],
    columns: {
      topic: text('What was to be found out', '要探明的事项'),
      subject: text('The endpoint that was asked, or account', '所询问的接口，或 account'),
      answer: text(
        'What was found; NULL where it cannot be known, as the evidence says',
        '结论；无法得知时为 NULL，原因见 evidence',
      ),
      evidence: text('What was asked and what came, without personal data', '询问了什么、得到什么，不含个人信息'),
      found_at: instant('When it was found', '探明时间'),
      run_id: bigint('The run that found it', '探明它的运行'),
    },
  },
}
