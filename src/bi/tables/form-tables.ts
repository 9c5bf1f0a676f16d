import { type BaseTable, column, changes, removedAt } from '../base-table.ts'

/** Questionnaires with their signups, and the managers of the account. */
export const formTables: Readonly<Record<string, BaseTable>> = {
  'livehouse.questionnaires': {
    words: { en: 'Questionnaires of a channel, one row each (API 4.10)', zh: '频道的问卷，每行一份（API 4.10）' },
    key: ['channel_id', 'question_id'],
    columns: {
      channel_id: column('text', 'Channel id', '频道 ID'),
      question_id: column('text', 'Questionnaire hash id', '问卷 ID'),
      name: column('text', 'Questionnaire name', '问卷名称'),
      position: column('smallint', '0 inside the watch page, 1 before it', '0：观看页内；1：观看页前'),
      is_open: column('boolean', 'Whether the questionnaire is on', '问卷是否开启'),
      created_at: column('timestamp with time zone', 'Creation', '创建时间'),
      ...changes,
    },
  },
  'livehouse.signups': {
    words: {
      en: 'Signups, one row an answered questionnaire (API 4.11)',
      zh: '报名，每份已填写的问卷一行（API 4.11）',
    },
    key: ['channel_id', 'question_id', 'signup_key'],
    columns: {
      channel_id: column('text', 'Channel id', '频道 ID'),
      question_id: column('text', 'Questionnaire hash id', '问卷 ID'),
      signup_key: column(
        'text',
        'Identity of the signup: viewer and time, and its number among equal ones',
        '报名标识：观众与时间，以及在相同者中的序号',
      ),
      user_id: column('text', 'Viewer id (first column)', '观众 ID（第一列）'),
      nickname: column('text', 'Nickname (second column)', '昵称（第二列）'),
      phone: column('text', 'Phone (third column)', '手机号（第三列）'),
      signed_up_at: column(
        'timestamp with time zone',
        'When the viewer signed up (last column)',
        '报名时间（最后一列）',
      ),
      answers: column(
        'jsonb',
        'Array of {"question", "answer"} in the order of the columns between phone and signup time',
        '{"question", "answer"} 数组，按手机号与报名时间之间各列的顺序',
      ),
      occurrence: column(
        'integer',
        '1, 2 … among the signups with equal user_id and signed_up_at',
        'user_id 与 signed_up_at 相同的报名的序号（1、2 …）',
      ),
      ...removedAt,
      ...changes,
    },
  },
  'livehouse.signup_answers': {
    words: { en: 'Answers of a signup, one row a question (API 4.11)', zh: '报名的答案，每题一行（API 4.11）' },
    key: ['channel_id', 'question_id', 'signup_key', 'question_no'],
    columns: {
      channel_id: column('text', 'Channel id', '频道 ID'),
      question_id: column('text', 'Questionnaire hash id', '问卷 ID'),
      signup_key: column('text', 'The signup that the answer belongs to', '答案所属的报名'),
      question_no: column(
        'smallint',
        'Number of the question, from 1, in the order of the questionnaire',
        '题号，从 1 起，按问卷顺序',
      ),
      question: column('text', 'Header of the question, free text of the operator', '题目，运营者自由填写'),
      answer: column('text', 'Answer as it came; several choices are joined by ||', '答案原文；多个选项以 || 连接'),
      ...changes,
    },
  },
  'livehouse.managers': {
    words: { en: 'Manager accounts, one row each (API 4.9)', zh: '管理员账号，每行一个（API 4.9）' },
    key: ['manager_id'],
    columns: {
      manager_id: column('bigint', 'Manager id', '管理员 ID'),
      username: column('text', 'User name; leading zeros count', '用户名；前导零有意义'),
      main_account_id: column('bigint', 'Main account id', '主账号 ID'),
      limit_type: column('smallint', '1 duration, 2 traffic', '1 时长，2 流量'),
      traffic_limit: column('bigint', 'Traffic limit of the account', '账号流量上限'),
      time_limit: column('bigint', 'Duration limit of the account', '时长上限'),
      pay_type: column('smallint', 'Consumption type; its values are not documented', '消费类型；取值无文档说明'),
      ...changes,
    },
  },
  'livehouse.manager_usage': {
    words: {
      en: 'Usage of manager accounts, one row an account and day of the service on which it was read (API 4.8)',
      zh: '管理员账号用量，每个账号在每个读取日（服务所在时区）一行（API 4.8）',
    },
    key: ['manager_id', 'snapshot_date'],
    columns: {
      manager_id: column('bigint', 'Manager id', '管理员 ID'),
      snapshot_date: column('date', 'Day of the service on which the usage was read', '读取用量的日期（服务所在时区）'),
      username: column('text', 'User name; leading zeros count', '用户名；前导零有意义'),
      created_on: column('date', 'Creation date of the account', '账号创建日期'),
      main_account_id: column('bigint', 'Main account id', '主账号 ID'),
      channel_count: column('integer', 'Number of channels', '频道数'),
      last_login_at: column('timestamp with time zone', 'Last login', '最近登录时间'),
      last_push_at: column('timestamp with time zone', 'Last stream push', '最近推流时间'),
      cost_limit_notification: column(
        'boolean',
        'Whether the account is told when the consumption limit is reached',
        '达到消费上限时是否通知',
      ),
      limit_type: column(
        'smallint',
        '1 duration (minutes), 2 traffic (GB); the unit of the costs',
        '1 时长（分钟），2 流量（GB）；即各消费量的单位',
      ),
      outer_id: column('text', 'Third-party id of the guest', '嘉宾的第三方 ID'),
      redpack_enabled: column('boolean', 'Whether red packets are enabled', '是否开启红包'),
      live_notify_enabled: column('boolean', 'Whether live subscription is enabled', '是否开启直播订阅'),
      cost_type: column('text', 'Consumption type, display text of the service', '消费类型，服务端显示文本'),
      cost_limit: column(
        'numeric',
        'Consumption limit in the unit of limit_type; 0 is unlimited',
        '消费上限，单位见 limit_type；0 为不限',
      ),
      cost_total_watch: column('numeric', 'Total watch duration consumed', '已消费的总观看时长'),
      cost_vod_watch: column('numeric', 'On-demand watch duration consumed', '已消费的点播观看时长'),
      cost_live_watch: column('numeric', 'Live watch duration consumed', '已消费的直播观看时长'),
      cost_transfer: column('numeric', 'Traffic consumed, in GB', '已消费的流量（GB）'),
      ...changes,
    },
  },
}
