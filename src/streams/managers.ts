import { defineStream } from '../core/stream.ts'
import { bigintField, required, smallintField, textField } from './columns.ts'
import { accountEnvelope, byPerPage } from './wire.ts'

/** One row a manager account. API 4.9, fields 2.7. */
export const managers = defineStream({
  name: 'managers',
  label: { en: 'Managers', zh: '管理员' },
  table: 'managers',
  section: '4.9',
  comment: 'Manager accounts, one row each (API 4.9)',
  columns: {
    manager_id: required(bigintField('id', 'Manager id')),
    username: textField('username', 'User name; leading zeros count'),
    main_account_id: bigintField('belong_to', 'Main account id'),
    limit_type: smallintField('limit_type', '1 duration, 2 traffic'),
    traffic_limit: bigintField('transfer_limit', 'Traffic limit of the account'),
    time_limit: bigintField('time_limit', 'Duration limit of the account'),
    pay_type: smallintField('pay_type', 'Consumption type; its values are not documented'),
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
  timeColumns: [],
  lookbackDays: 0,
  marksRemoved: false,
  otherFields: [],
})
