import { defineJob } from 'livehouse'

/** Reads what is new today, every quarter of an hour. To turn it on, set `enabled: true`, here or in a copy. */
export default defineJob({
  enabled: false,
  cron: '*/15 * * * *',
  streams: ['watch_records', 'gifts', 'signups'],
  // The nightly job reads the previous days again.
  lookbackDays: { watch_records: 0, gifts: 0, signups: 0 },
  catchUp: 'never',
})
