import { defineJob } from 'livehouse'

/** The streams of today, every quarter of an hour. `enabled: true` (or a copy of this file with it) switches it on. */
export default defineJob({
  enabled: false,
  cron: '*/15 * * * *',
  streams: ['watch_records', 'gifts', 'signups'],
  // What is read again of the days before is for the night.
  lookbackDays: { watch_records: 0, gifts: 0, signups: 0 },
  catchUp: 'never',
})
