import { defineStream } from '../core/stream.ts'
import { field, required } from './columns.ts'
import { accountEnvelope, byPerPage } from './wire.ts'

/** Manager accounts, one row each. API 4.9, fields 2.7. */
export const managers = defineStream({
  name: 'managers',
  label: { en: 'Managers', zh: '管理员' },
  section: '4.9',
  words: { en: 'Manager accounts, one row each (API 4.9)', zh: '管理员账号，每行一个（API 4.9）' },
  columns: {
    manager_id: required(field.bigint('id', 'Manager id', '管理员 ID')),
    username: field.text('username', 'User name; leading zeros count', '用户名；前导零有意义'),
    main_account_id: field.bigint('belong_to', 'Main account id', '主账号 ID'),
    limit_type: field.smallint('limit_type', '1 duration, 2 traffic', '1 时长，2 流量'),
    traffic_limit: field.bigint('transfer_limit', 'Traffic limit of the account', '账号流量上限'),
    time_limit: field.bigint('time_limit', 'Duration limit of the account', '时长上限'),
    pay_type: field.smallint('pay_type', 'Consumption type; its values are not documented', '消费类型；取值无文档说明'),
  },
  key: ['manager_id'],
  partitionedBy: 'account',
  wire: {
    method: 'GET',
    path: '/v1/account/managers',
    place: 'unknown',
    ...byPerPage,
    envelope: accountEnvelope,
  },
  pageSize: 100,
})
