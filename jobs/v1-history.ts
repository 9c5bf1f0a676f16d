import { defineJob } from 'livehouse'

/**
 * The watch records of before December 2018, which only version 1 of the interface has: ten calls a day until all of them are
 * there. It begins when the day's calls are free again. `enabled: true` (or a copy of this file with it) switches it on.
 */
export default defineJob({
  enabled: false,
  kind: 'backfill',
  cron: '20 0 * * *',
  streams: ['watch_records_v1'],
  range: { to: '2018-12-01' },
  onlyGaps: true,
})
