import { defineJob } from 'livehouse'

/** Compares the service's totals with the warehouse every week. The next sync reads again what differs. */
export default defineJob({
  kind: 'audit',
  cron: '30 5 * * SUN',
})
