import { type BaseTable, bigint, boolean, days, instant, integer, place, range, ranges, text } from '../base-table.ts'

const channelPlace = {
  ...place,
  channel_id: text('Of partition; NULL for streams of the account', '取自 partition；账号级数据流为 NULL'),
}

const is_active = boolean(
  'Whether it is read: its channel is, and a questionnaire is still listed; true for the account',
  '是否仍读取：频道仍读取，且问卷仍在列表中；账号级数据流为 true',
)

const stateColumns = {
  ...channelPlace,
  is_windowed: boolean(
    'Whether it is read by ranges of time; else the whole list is read each time',
    '是否按时间区间读取；否则每次整表读取',
  ),
  latest_slice_id: bigint(
    'The last slice, landed or not; those that are forgotten do not count; NULL where all are',
    '最近的切片，无论是否写入；forgotten 的不计；全部为 forgotten 时为 NULL',
  ),
  landed_slice_id: bigint(
    'The last slice that was read to its end: status landed or moving; NULL for none',
    '最近读完的切片（status 为 landed 或 moving）；没有则为 NULL',
  ),
  landed_at: instant('When that was', '其时间'),
  verified_at: instant('When a slice was last verified', '最近一次 verified 的时间'),
  covers: ranges(
    'What is covered: the union of landed ranges, wall clock of the service; empty for whole lists',
    '已覆盖的部分：已写入区间的并集（服务钟面时间）；整表读取时为空',
  ),
  settled: ranges(
    'What is not read again: the union of the settled ranges of landed slices, as covers',
    '不再重读的部分：已写入切片 settled 区间的并集，同 covers',
  ),
  shortest_lookback_days: integer(
    'The shortest lookback with which these were read; slices that did not keep theirs are left out',
    '读取这些切片时最短的回看天数；未记录者不计',
  ),
  walked_at: instant(
    'When the last landed reading of the whole list began; NULL where none has, and for ranges of time',
    '最近一次写入的整表读取的开始时间；没有则为 NULL，按区间读取时也为 NULL',
  ),
  landed_days: days(
    'Days of the service on which the whole list was read to its end; none for ranges of time',
    '整表读完的各日（服务时区）；按区间读取时为空',
  ),
  failed_days: days('Days on which it was read, and never to its end', '读取过但从未读完的各日'),
  latest_run_id: bigint('The run that read the last slice', '读取最近切片的运行'),
  latest_status: text('Of the last slice, as in slices', '最近切片的 status，同 slices'),
  latest_proof: text('Of the last slice, as in slices', '最近切片的 proof，同 slices'),
  latest_error: text('Of the last slice, as in slices', '最近切片的 error，同 slices'),
  latest_at: instant('When the last slice ended', '最近切片的结束时间'),
  landed_proof: text('The proof of landed_slice_id', 'landed_slice_id 的证明'),
}

/** How each partition stands, and what is open. */
export const partitionTables: Readonly<Record<string, BaseTable>> = {
  'livehouse_ops.partition_states': {
    words: {
      en: 'How each partition stands, by the ledger: the database renews a row with every change of the slices of its partition',
      zh: '按账本汇总的各部分现状：其切片每有变动，数据库即更新该行',
    },
    key: ['stream', 'partition'],
    columns: stateColumns,
  },
  'livehouse_ops.latest_readings': {
    kind: 'view',
    words: {
      en: 'How each partition stands, as in partition_states, and whether it is still read; without those of which all is forgotten',
      zh: '各部分现状（同 partition_states）及其是否仍读取；不含全部为 forgotten 的部分',
    },
    key: [],
    columns: { ...stateColumns, is_active },
  },
  'livehouse_ops.open_readings': {
    kind: 'view',
    words: {
      en: 'What is missing or not proven: gaps in what is covered, readings that fell short or failed, accepted shortfalls',
      zh: '缺失或未经证明的部分：覆盖中的缺口、不足或失败的读取、已接受的不足',
    },
    key: [],
    columns: {
      kind: text(
        'gap; problem: short or failed, and neither made good by a later reading nor accepted; accepted, and not read to its end since',
        'gap（缺口）；problem（不足或失败，且未被后来的读取弥补，也未被接受）；accepted（已接受，此后未读完）',
      ),
      ...channelPlace,
      is_active,
      reads: range('The range, wall clock of the service; NULL for a whole list', '区间（服务钟面时间）；整表为 NULL'),
      slice_id: bigint(
        'The reading: of each range the last one; NULL for a gap',
        '该次读取：每个区间的最近一次；缺口为 NULL',
      ),
      proof: text('Of the reading; NULL for a gap', '该次读取的证明；缺口为 NULL'),
      error: text('What is missing or went wrong; NULL for a gap', '缺少什么或出了什么错；缺口为 NULL'),
      read_at: instant('When the reading ended; NULL for a gap', '该次读取的结束时间；缺口为 NULL'),
      missing_rows: bigint(
        'How many rows it lacks; NULL where that is not known, and for a gap',
        '缺少的行数；未知或缺口为 NULL',
      ),
      acceptance_id: bigint(
        'The acceptance by which it counts; NULL for what is not accepted',
        '所依据的接受；未接受为 NULL',
      ),
    },
  },
  'livehouse_ops.unlisted_questionnaires': {
    words: {
      en: 'Known questionnaires that the last proven list of their channel no longer had: they are not read',
      zh: '已知但频道最近一次经核对的列表中不再有的问卷：不再读取',
    },
    key: ['partition'],
    columns: {
      partition: text('The questionnaire, as in slices', '问卷，同 slices'),
      run_id: bigint('The run that first missed it', '首次发现其缺失的运行'),
      found_at: instant('When that run read the list', '该运行读取列表的时间'),
    },
  },
}
