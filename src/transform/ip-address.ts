import { isIP } from 'node:net'
import { unreadable } from '../core/column.ts'

/** An IPv4 or IPv6 address that Postgres takes as `inet`; one with a zone, a port or a mask is not. */
export function ipAddress(raw: unknown): string | null | typeof unreadable {
  if (raw === null || raw === undefined || raw === '') return null
  return typeof raw === 'string' && (isPlainIpv4(raw) || isIP(raw) !== 0) && !raw.includes('%') ? raw : unreadable
}

/** Whether it is four numbers from 0 to 255, without zeros before them: what nearly every value is, told without a regular expression. */
function isPlainIpv4(text: string): boolean {
  let dots = 0
  let part = -1
  for (let index = 0; index < text.length; index += 1) {
    const digit = text.charCodeAt(index) - 48
    if (digit === -2) {
      if (part < 0) return false
      dots += 1
      part = -1
    } else {
      if (digit < 0 || digit > 9 || part === 0) return false
      part = part < 0 ? digit : part * 10 + digit
      if (part > 255) return false
    }
  }
  return dots === 3 && part >= 0
}
