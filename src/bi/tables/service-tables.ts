import {
  type BaseTable,
  bigint,
  boolean,
  bytes,
  date,
  instant,
  integer,
  json,
  name255,
  text,
  wallTime,
} from '../base-table.ts'

/** Calls, jobs, alerts, and who works on what. */
export const serviceTables: Readonly<Record<string, BaseTable>> = {
  'livehouse_ops.access_tokens': {
    words: {
      en: 'The access token that the processes of one application share (API 4.1)',
      zh: '同一应用的各进程共用的访问令牌（API 4.1）',
    },
    key: ['auth_url', 'app_id'],
    columns: {
      auth_url: text('Address that handed it out', '签发地址'),
      app_id: text('Application id', '应用 ID'),
      sealed: bytes(
        'The token with its validity, encrypted with a key derived from the application secret; one that another secret sealed counts as none',
        '令牌及其有效期，以由应用密钥派生的密钥加密；由其他密钥加密的视为没有',
      ),
      expires_at: instant('When it ends', '到期时间'),
    },
  },
  'livehouse_ops.call_budget': {
    words: {
      en: 'Calls taken of the few that the service allows in a day (API 4.6); each is taken before it is made, so that no crash can overspend',
      zh: '服务端每天只允许少量调用的接口（API 4.6）已占用的次数；先占用后调用，崩溃也不会超支',
    },
    key: ['scope', 'service_day'],
    columns: {
      scope: text(
        'Whom the calls belong to: account, or a channel (channel=9)',
        '次数归谁：account（账号），或某个频道（channel=9）',
      ),
      service_day: date('The day of the service, by its own clock', '服务端的日期，以其自身时钟为准'),
      calls: integer(
        'Calls taken on that day, made or not; never given back',
        '当日已占用的次数，无论是否实际调用；从不退回',
      ),
      first_call_at: instant(
        'When the first was taken, by the clock of the service',
        '首次占用的时间，以服务端时钟为准',
      ),
      last_call_at: instant(
        'When the last was taken, by the clock of the service',
        '最近一次占用的时间，以服务端时钟为准',
      ),
      spent_at: instant(
        'When the service refused a further call; NULL while it has not. Nothing is taken of such a day any more',
        '服务端拒绝继续调用的时间；未拒绝时为 NULL。此后当日不再占用',
      ),
    },
  },
  'livehouse_ops.call_paces': {
    words: {
      en: 'How fast the processes of one database may call the service together; lost in a crash of the server, and found anew',
      zh: '同一数据库的各进程合计可多快调用服务；服务器崩溃会丢失，之后重新测得',
    },
    key: ['host'],
    columns: {
      host: text('Host of the service', '服务主机'),
      version: bigint(
        'Counts the changes, so that two processes at once do not overwrite each other',
        '变更计数，使两个进程不会相互覆盖',
      ),
      pace: json(
        'The rate that has been found, what was admitted lately, and when the next call may leave',
        '测得的速率、近期被接受的调用数，以及下一次可调用的时间',
      ),
    },
  },
  'livehouse_ops.jobs': {
    words: {
      en: 'The jobs that livehouse serve has found, one row a job file',
      zh: 'livehouse serve 找到的作业，每个作业文件一行',
    },
    key: ['job'],
    columns: {
      job: text('Name of the job: that of its file', '作业名，即其文件名'),
      cron: text('When it is due, in cron notation', '何时运行，cron 表示法'),
      time_zone: text('IANA zone of these times', '这些时间的 IANA 时区'),
      is_enabled: boolean('Whether livehouse serve runs it', 'livehouse serve 是否运行它'),
      since: instant(
        'From when on it is due by this schedule; what lies before is not caught up',
        '自何时起按此计划；之前的不补',
      ),
      seen_at: instant('When a livehouse serve last started with it', '最近一次有 livehouse serve 带着它启动的时间'),
    },
  },
  'livehouse_ops.job_runs': {
    words: {
      en: 'Runs of jobs: one row for each time at which a job was due, and one for each run by hand',
      zh: '作业的运行：每个应运行的时刻一行，每次手动运行一行',
    },
    key: ['job_run_id'],
    columns: {
      job_run_id: bigint('Number of the run of the job', '作业运行编号'),
      job: text('Name of the job', '作业名'),
      local_time: wallTime(
        'The time at which it was due, on the wall clock of its zone; NULL for a run by hand',
        '应运行的时间，其时区的钟面时间；手动运行为 NULL',
      ),
      is_repeat: boolean(
        'Whether it is the second time that the clock showed this, when clocks were put back',
        '时钟回拨时是否为同一时刻的第二次',
      ),
      due_at: instant('The same as an instant; NULL for a run by hand', '同上，为时刻；手动运行为 NULL'),
      status: text(
        'running, also where its process was killed; interrupted: taken up again by the next livehouse serve; ended, also one that was given up (outcome failed); skipped: missed, and not to be caught up, or interrupted, and made up for by the next one',
        'running：运行中（进程被终止的也是）；interrupted：由下一个 livehouse serve 接续；ended：已结束，包括被放弃的（outcome 为 failed）；skipped：已错过且不补，或被中断而由下一次补上',
      ),
      outcome: text(
        'How it ended: ok, partial, waiting or failed; NULL before that',
        '结果：ok、partial、waiting 或 failed；此前为 NULL',
      ),
      attempts: integer('How many times it was begun', '开始过的次数'),
      worker: text('Host and process that last ran it', '最近运行它的主机与进程'),
      run_id: bigint(
        'The run in livehouse_ops.runs; NULL where none was begun',
        'livehouse_ops.runs 中的运行；未开始时为 NULL',
      ),
      error: text('Why it failed or was skipped; NULL where it did not', '失败或跳过的原因；没有时为 NULL'),
      started_at: instant('When it was begun, the last time', '最近一次开始时间'),
      finished_at: instant('When it ended; NULL before that', '结束时间；此前为 NULL'),
      time_zone: text(
        'IANA zone of local_time; NULL for a run by hand, and in rows from before there was this column',
        'local_time 的 IANA 时区；手动运行及本列出现之前的行为 NULL',
      ),
    },
  },
  'livehouse_ops.schedulers': {
    words: {
      en: 'The processes of livehouse serve that share this database',
      zh: '共用本数据库的 livehouse serve 进程',
    },
    key: ['scheduler_id'],
    columns: {
      scheduler_id: text('Made up anew by each process', '每个进程新生成'),
      worker: text('Host and process', '主机与进程'),
      jobs: json(
        'Digest of each of its jobs by name: processes with other jobs are told of each other',
        '各作业的摘要，按名称：作业不同的进程会相互告知',
      ),
      started_at: instant('When it began', '开始时间'),
      seen_at: instant(
        'When it last said that it is there; it does so every half minute',
        '最近一次报到的时间；每半分钟一次',
      ),
    },
  },
  'livehouse_ops.alerts': {
    words: {
      en: 'What went wrong by itself and was, or is to be, sent to LIVEHOUSE_ALERT_WEBHOOK: one row from when a cause arises to when it is over',
      zh: '自行发生、已发送或待发送至 LIVEHOUSE_ALERT_WEBHOOK 的问题：每个原因从出现到消失一行',
    },
    key: ['alert_id'],
    columns: {
      alert_id: bigint('Number of the alert', '告警编号'),
      cause: text(
        'What it is about, such as run=nightly or channel=9; at most one alert of a cause is open',
        '关于什么，如 run=nightly 或 channel=9；同一原因最多一条未结',
      ),
      facts: json('The facts of its message; no personal data', '消息所含的事实；不含个人信息'),
      raised_at: instant('When the cause was first seen', '首次发现该原因的时间'),
      raised_sent_at: instant(
        'When a message about it was accepted; NULL before that',
        '有关消息被接收的时间；此前为 NULL',
      ),
      cleared_at: instant('When the cause was no longer there; NULL while it is', '该原因消失的时间；仍存在时为 NULL'),
      cleared_sent_at: instant(
        'When a message about that was accepted; NULL before that, and where the first one certainly never went out',
        '消失的消息被接收的时间；此前为 NULL，首条消息确定从未发出时亦为 NULL',
      ),
      claimed_until: instant(
        'A process is sending it until then; later another one may. Stays where the receiver may have taken it without saying so',
        '在此之前由某个进程发送；之后其他进程可接手。接收方可能已收到但未确认时保留',
      ),
    },
  },
  'livehouse_ops.leases': {
    words: {
      en: 'Who works on what: a run, a job, a partition of a stream. One holder at a time, until it no longer renews it',
      zh: '谁在处理什么：运行、作业、数据流的分区。同一时刻只有一个持有者，直到其不再续约',
    },
    key: ['name'],
    columns: {
      name: text(
        'What is held, such as partition watch_records channel=9, job nightly or run 12',
        '持有的对象，如 partition watch_records channel=9、job nightly 或 run 12',
      ),
      holder: text('Host and process', '主机与进程'),
      epoch: bigint(
        'Another number each time that it is taken: whoever has an older one has lost it and writes nothing',
        '每次取得时换新的编号：持有旧编号者已失去租约，不再写入',
      ),
      taken_at: instant(
        'When its holder took it; all times are by the clock of the database',
        '持有者取得的时间；所有时间以数据库时钟为准',
      ),
      renewed_at: instant('When its holder last renewed it', '持有者最近一次续约的时间'),
      expires_at: instant('From then on another may take it', '此后其他进程可以取得'),
      wanted_until: instant(
        'Another wants it, as it said until then: a backfill makes way for it; NULL where nobody does',
        '在此之前有其他进程需要它：补数任务会让出；无人需要时为 NULL',
      ),
    },
  },
  'livehouse_ops.locks': {
    words: {
      en: 'Names of short pieces of work that one process at a time may do: each locks its row for a transaction',
      zh: '同一时刻只允许一个进程执行的短操作的名称：执行者在事务中锁定其所在行',
    },
    key: ['name'],
    columns: { name: text('What is done', '操作名称') },
  },
  'livehouse_ops.migrations': {
    words: { en: 'The migrations that this database has had, in their order', zh: '本数据库已执行的迁移，按顺序' },
    key: ['name'],
    columns: {
      name: name255('File name of the migration, without its ending', '迁移的文件名，不含扩展名'),
      timestamp: name255('When it was applied (ISO 8601, UTC)', '执行时间（ISO 8601，UTC）'),
    },
  },
  'livehouse_ops.migration_lock': {
    words: {
      en: 'Of the migration library; whoever migrates or makes views locks its row',
      zh: '属于迁移库；执行迁移或创建视图者锁定其中的行',
    },
    key: ['id'],
    columns: {
      id: name255('Name of the lock', '锁名'),
      is_locked: integer('Unused', '未使用'),
    },
  },
}
