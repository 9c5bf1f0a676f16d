import { type BaseTable, column } from '../base-table.ts'

/** Who works on what, and migrations. */
export const leaseTables: Readonly<Record<string, BaseTable>> = {
  'livehouse_ops.leases': {
    words: {
      en: 'Who works on what: a run, a job, a partition of a stream. One holder at a time, until it no longer renews it',
      zh: '谁在处理什么：运行、作业、数据流的分区。同一时刻只有一个持有者，直到其不再续约',
    },
    key: ['name'],
    columns: {
      name: column(
        'text',
        'What is held, such as partition watch_records channel=9, job nightly or run 12',
        '持有的对象，如 partition watch_records channel=9、job nightly 或 run 12',
      ),
      holder: column('text', 'Host and process', '主机与进程'),
      epoch: column(
        'bigint',
        'Another number each time that it is taken: whoever has an older one has lost it and writes nothing',
        '每次取得时换新的编号：持有旧编号者已失去租约，不再写入',
      ),
      taken_at: column(
        'timestamp with time zone',
        'When its holder took it; all times are by the clock of the database',
        '持有者取得的时间；所有时间以数据库时钟为准',
      ),
      renewed_at: column('timestamp with time zone', 'When its holder last renewed it', '持有者最近一次续约的时间'),
      expires_at: column('timestamp with time zone', 'From then on another may take it', '此后其他进程可以取得'),
      wanted_until: column(
        'timestamp with time zone',
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
    columns: { name: column('text', 'What is done', '操作名称') },
  },
  'livehouse_ops.migrations': {
    words: { en: 'The migrations that this database has had, in their order', zh: '本数据库已执行的迁移，按顺序' },
    key: ['name'],
    columns: {
      name: column(
        'character varying(255)',
        'File name of the migration, without its ending',
        '迁移的文件名，不含扩展名',
      ),
      timestamp: column('character varying(255)', 'When it was applied (ISO 8601, UTC)', '执行时间（ISO 8601，UTC）'),
    },
  },
  'livehouse_ops.migration_lock': {
    words: {
      en: 'Of the migration library; whoever migrates or makes views locks its row',
      zh: '属于迁移库；执行迁移或创建视图者锁定其中的行',
    },
    key: ['id'],
    columns: {
      id: column('character varying(255)', 'Name of the lock', '锁名'),
      is_locked: column('integer', 'Unused', '未使用'),
    },
  },
}
