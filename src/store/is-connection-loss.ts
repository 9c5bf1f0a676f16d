import { hasCode } from '../core/errors.ts'

/** Whether the server has gone, or ends the connection after this error: class 57P is its shutdown. */
export function isConnectionLoss(error: unknown): boolean {
  return hasCode(error, 'db.unreachable') || (hasCode(error, 'db.refused') && error.details.sqlState.startsWith('57P'))
}
