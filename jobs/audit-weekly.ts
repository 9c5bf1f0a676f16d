import { defineJob } from 'livehouse'

/** Asks the service for its totals every week and holds them against the warehouse; what differs, the next sync reads again. */
export default defineJob({
  kind: 'audit',
  cron: '30 5 * * SUN',
})
