import { defineJob } from 'livehouse'

/**
 * Reads the watch records from before December 2018, which only version 1 of the interface has: ten calls a day until
 * all have landed. Due after midnight, when calls are free. To turn it on, set `enabled: true`, here or in a copy.
 */
export default defineJob({
  enabled: false,
  kind: 'backfill',
  cron: '20 0 * * *',
  streams: ['watch_records_v1'],
  range: { to: '2018-12-01' },
  onlyGaps: true,
})
