import { defineStream } from '../core/stream.ts'
import { watchRecords } from './watch-records.ts'

const { api_version: apiVersion } = watchRecords.columns

/**
 * Watch records from version 1 of the interface, which allows ten calls a day, and may leave out assign_id, outer_id,
 * live_time and vod_time. API 4.6, fields 2.4.
 */
export const watchRecordsV1 = defineStream({
  ...watchRecords,
  name: 'watch_records_v1',
  label: { en: 'Watch records, version 1', zh: '观看记录（v1）' },
  section: '4.6',
  columns: {
    ...watchRecords.columns,
    api_version: { ...apiVersion, source: { kind: 'constant', value: 1 } },
  },
  key: ['channel_id', 'record_id'],
  freshnessColumn: 'left_at',
  wire: { ...watchRecords.wire, path: '/v1/activities/{channel}/userRecords', envelope: undefined },
  isBudgeted: true,
  versions: {
    column: 'api_version',
    own: 1,
    other: { stream: 'watch_records', version: 2 },
    sameIn: ['user_id', 'entered_at'],
  },
})
