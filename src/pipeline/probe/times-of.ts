import type { Page } from '../../core/page.ts'
import type { WallTime } from '../../core/wall-clock.ts'
import { timeOf } from './fields.ts'

const fields = ['first_login_time', 'last_online_time', 'uptime']

/** Every time that the rows of a page tell: entries and leaves, gifts, and the last cells of signups. */
export function timesOf({ items }: Page): readonly WallTime[] {
  return items.flatMap((item) => {
    const names = Array.isArray(item) ? [item.length - 1] : fields
    return names.map((name) => timeOf(item, name)).filter((time) => time !== undefined)
  })
}
