import { type BaseTable, bigint, boolean, date, instant, integer, json, range, text, texts } from '../base-table.ts'

/** What has been read and what has not. */
export const ledgerTables: Readonly<Record<string, BaseTable>> = {
  'livehouse_ops.source': {
    words: {
      en: 'Whose records this database holds: one row, written by the first run',
      zh: '本数据库存放谁的记录：仅一行，由首次运行写入',
    },
    key: [],
    columns: {
      base_url: text('Address of the service, without a trailing slash', '服务地址，不含末尾斜杠'),
      app_id: text('Application id; NULL while only a fixed token has been used', '应用 ID；只用过固定令牌时为 NULL'),
      time_zone: text(
        'IANA zone of the times that the service gives, and of its day',
        '服务端时间与日期所用的 IANA 时区',
      ),
      remembered_at: instant('When the first run claimed this database', '首次运行认领本数据库的时间'),
    },
  },
  'livehouse_ops.runs': {
    words: { en: 'One row a command that reads from the service', zh: '每个从服务读取数据的命令一行' },
    key: ['run_id'],
    columns: {
      run_id: bigint('Number of the run; run_id of every row that it changed', '运行编号；即其改动的每一行的 run_id'),
      command: text('The command as it was called, without secrets', '所执行的命令，不含密钥'),
      status: text(
        'running, or how it ended: ok, partial, waiting, failed, or interrupted where its process had gone',
        'running 或结果：ok、partial、waiting、failed；进程已不在的为 interrupted',
      ),
      settings: json('The settings that it ran with, without secrets', '运行时的设置，不含密钥'),
      started_at: instant('When it began', '开始时间'),
      finished_at: instant(
        'When it ended; NULL while it runs; of an interrupted run the last sign of life',
        '结束时间；运行中为 NULL；被中断的运行为其最后活动时间',
      ),
      resumes_at: instant(
        'When work that waits can go on (status waiting)',
        '等待中的工作可继续的时间（status 为 waiting）',
      ),
      outcome: json('What it did, as the JSON output of the command', '所做的工作，同命令的 JSON 输出'),
    },
  },
  'livehouse_ops.slices': {
    words: {
      en: 'The ledger: one row a piece of extraction. The union of landed ranges is what has been covered',
      zh: '账本：每个抽取切片一行。已写入区间的并集即为已覆盖的部分',
    },
    key: ['slice_id'],
    columns: {
      slice_id: bigint('Number of the slice', '切片编号'),
      run_id: bigint('The run that read it', '读取它的运行'),
      stream: text('Name of the stream, such as watch_records', '数据流名称，如 watch_records'),
      partition: text(
        'What part of the stream: channel=9, channel=9/type=cash, channel=9/question=ab, account',
        '数据流的哪一部分：channel=9、channel=9/type=cash、channel=9/question=ab、account',
      ),
      covers: range(
        'What it proves to be covered: the range that it read, without its youngest part; NULL where nothing is covered',
        '证明已覆盖的区间：所读区间去掉最新部分；没有则为 NULL',
      ),
      status: text(
        'landed: all its rows are committed; moving: the list moved, it is read again; failed: it did not get to its end; forgotten: an operator wants it read again',
        'landed：全部行已提交；moving：列表有变动，将重读；failed：未读完；forgotten：运营者要求重读',
      ),
      proof: text(
        'How complete it is known to be: verified, agreed, unverifiable, moving, short, accepted or failed; docs/operations.md says what each means',
        '已知的完整程度：verified、agreed、unverifiable、moving、short、accepted 或 failed',
      ),
      first_total: bigint(
        'Total that the first answer named; NULL where the service gives none, as for the next three',
        '首个应答给出的总数；服务端不给出时为 NULL，以下三列同',
      ),
      last_total: bigint('Total that the last answer named', '最后一个应答给出的总数'),
      smallest_total: bigint('Smallest total that any answer named', '各应答中最小的总数'),
      largest_total: bigint('Largest total that any answer named', '各应答中最大的总数'),
      distinct_rows: bigint(
        'Distinct rows received, before those outside the range were cut off',
        '收到的不同行数，去除区间外的行之前',
      ),
      quarantined_rows: bigint('Rows received that could not be read', '收到但无法读取的行数'),
      calls: bigint('Calls made, repeated ones included', '调用次数，含重试'),
      retries: bigint('Of these, repeated ones', '其中重试的次数'),
      error: text('Why it failed; NULL when it landed', '失败原因；写入成功时为 NULL'),
      started_at: instant('When its first call was made', '首次调用的时间'),
      finished_at: instant('When it landed or failed', '写入或失败的时间'),
      is_drop: boolean(
        'Whether it found over a tenth fewer rows than were there before: short until another at least an hour later agrees',
        '是否发现比之前少一成以上的行：在至少一小时后的另一次读取一致之前为 short',
      ),
      reads: range(
        'The range of the wall clock that it read, half-open; NULL for a walk over a whole list',
        '读取的区间（钟面时间），左闭右开；整表读取为 NULL',
      ),
      settled: range(
        'The part of what it covers that is not read again: its rows had stopped changing, and the reading changed, missed and lost nothing against the one before; NULL for none',
        '所覆盖部分中不再重读的区间：行已不再变动，且本次读取与上一次相比没有改变、缺失或丢失；没有则为 NULL',
      ),
      backfill_id: bigint(
        'The backfill that it belongs to (livehouse_ops.backfills)',
        '所属的回补（livehouse_ops.backfills）',
      ),
      missing_rows: bigint(
        'How many rows it lacks: of the total of the source, or of what was there before; NULL where none is known to be missing',
        '缺少的行数：相对于源端总数或之前已有的行；未知有缺失时为 NULL',
      ),
      acceptance_id: bigint(
        'The acceptance by which it counts as accepted; NULL for every other proof',
        '使其计为 accepted 的认可；其他证明为 NULL',
      ),
      lookback_days: integer(
        'How many days rows may still change, as it was when it was read; NULL for readings before this was kept',
        '读取时所用的回看天数（行在此期间仍可能变动）；在记录此项之前的读取为 NULL',
      ),
      page_size: integer(
        'Rows of a page as they came; NULL where all rows lay on one page, or pages of two sizes brought the same',
        '每页实际返回的行数；全部行在一页内，或两种页大小读到的内容相同时为 NULL',
      ),
      piece_of: bigint(
        'The slice from which this was cut off as a range between them was forgotten; NULL for a reading itself',
        '中间的区间被要求重读时，本切片由该切片拆出；其本身为一次读取时为 NULL',
      ),
    },
  },
  'livehouse_ops.open_slices': {
    words: {
      en: 'Slices that are read over several days, page by page: each page is committed with how far the reading has come',
      zh: '分多日逐页读取的切片：每页与读取进度一并提交',
    },
    key: ['stream', 'partition'],
    columns: {
      stream: text('Name of the stream', '数据流名称'),
      partition: text(
        'Part of the stream, as in slices; at most one slice of it is open',
        '数据流的部分，同 slices；每个部分最多一个未完成的切片',
      ),
      reads: range(
        'The range of the wall clock of the service that it reads, half-open',
        '读取的区间（服务钟面时间），左闭右开',
      ),
      covers: range('What of it will count as covered; NULL for nothing', '其中将计为已覆盖的部分；没有则为 NULL'),
      backfill_id: bigint(
        'The backfill that it belongs to (livehouse_ops.backfills)',
        '所属的回补（livehouse_ops.backfills）',
      ),
      pages_read: integer(
        'Pages whose rows are committed; 0 where none has come and the days on which it failed are remembered',
        '其行已提交的页数；为 0 表示尚未收到任何页，仅记录失败的天数',
      ),
      page_size: integer('Items of the largest page that came; 0 before the first', '迄今最大一页的条数；首页之前为 0'),
      keys: texts('Keys of the rows that came so far', '迄今收到的行的主键'),
      last_page_keys: texts(
        'Keys of the last page, in its order: another day begins with a look at whether they are still there',
        '最后一页的主键，按其顺序：次日先核对它们是否仍在',
      ),
      found_rows: bigint('Of these, rows inside the range', '其中位于区间内的行数'),
      quarantined_rows: bigint('Of these, items that went to quarantine', '其中进入隔离区的条数'),
      calls: bigint('Calls made so far, repeated ones included', '迄今的调用次数，含重试'),
      retries: bigint('Of these, repeated ones', '其中重试的次数'),
      run_id: bigint('The run that read the last page', '读取最后一页的运行'),
      started_at: instant('When the first page was asked for', '请求第一页的时间'),
      read_at: instant('When the last page was committed', '提交最后一页的时间'),
      failed_days: integer(
        'Days in a row on which the service refused it or failed; 0 once a page has come',
        '服务端连续拒绝或失败的天数；收到一页后归零',
      ),
      failed_on: date('The last of them, by the service', '其中最后一天，以服务端日期为准'),
    },
  },
  'livehouse_ops.backfills': {
    words: {
      en: 'Backfills: date ranges that are read again, covered or not; an open one is resumed by the same command',
      zh: '回补：无论是否已覆盖都重新读取的日期区间；未完成的由同一命令继续',
    },
    key: ['backfill_id'],
    columns: {
      backfill_id: bigint('Number of the backfill', '回补编号'),
      arguments: json('What was asked for: range, streams, channels', '请求内容：区间、数据流、频道'),
      status: text(
        'open: to be resumed; finished; abandoned: begun anew with --restart',
        'open：待继续；finished：已完成；abandoned：以 --restart 重新开始',
      ),
      started_at: instant('When it began', '开始时间'),
      finished_at: instant('When it ended; NULL while it is open', '结束时间；未完成时为 NULL'),
    },
  },
  'livehouse_ops.headers': {
    words: {
      en: 'Column headers of each questionnaire as last seen; other headers mean that all of it is read again',
      zh: '每份问卷最近一次看到的列标题；标题改变则整份重读',
    },
    key: ['partition'],
    columns: {
      partition: text('The questionnaire, as in slices', '问卷，同 slices'),
      title: json('Its column headers, in order', '其列标题，按顺序'),
      seen_at: instant('When they were first seen like this', '首次看到该标题的时间'),
      run_id: bigint('The run that first saw them like this', '首次看到该标题的运行'),
    },
  },
}
