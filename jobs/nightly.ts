import { defineJob } from 'livehouse'

/** Brings every stream up to date, every night. */
export default defineJob({
  cron: '15 2 * * *',
})
