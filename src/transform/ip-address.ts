import { isIP } from 'node:net'
import { unreadable } from '../core/column.ts'

/** An IPv4 or IPv6 address that Postgres takes as `inet`; one with a zone, a port or a mask is not. */
export function ipAddress(raw: unknown): string | null | typeof unreadable {
  if (raw === null || raw === undefined || raw === '') return null
  return typeof raw === 'string' && isIP(raw) !== 0 && !raw.includes('%') ? raw : unreadable
}
