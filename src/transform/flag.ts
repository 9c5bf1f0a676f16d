import { unreadable } from '../core/column.ts'

/** A boolean: true, false, 1, 0 or these as text (the service mixes them). */
export function flag(raw: unknown): boolean | null | typeof unreadable {
  switch (raw) {
    case null:
    case undefined:
    case '':
      return null
    case true:
    case 1:
    case '1':
    case 'true':
      return true
    case false:
    case 0:
    case '0':
    case 'false':
      return false
    default:
      return unreadable
  }
}
