import { LivehouseError } from '../../core/errors.ts'
import { codeOf } from '../translate-error.ts'

/** Of `db.embedded`. `mending` is a whole sentence without its full stop. */
export function embeddedError(
  dataDir: string,
  reason: string,
  mending: string,
  cause?: unknown,
): LivehouseError<'db.embedded'> {
  return new LivehouseError(
    'db.embedded',
    `The embedded PostgreSQL in ${dataDir} cannot run: ${reason}. ${mending}.`,
    { reason },
    { cause },
  )
}

const ELSEWHERE = 'set LIVEHOUSE_DATA_DIR to another directory'

/** Turns a failed file operation in the data directory into its one sentence; anything else is returned as it is. */
export function translateFileError(error: unknown, dataDir: string): unknown {
  if (!(error instanceof Error)) return error
  switch (codeOf(error)) {
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return embeddedError(
        dataDir,
        `its directory cannot be written (${error.message})`,
        `Make it writable for this user, or ${ELSEWHERE}`,
        error,
      )
    case 'ENOSPC':
    case 'EDQUOT':
      return embeddedError(dataDir, 'the disk is full', `Make room, or ${ELSEWHERE}`, error)
    case 'ENOTDIR':
    case 'EEXIST':
      return embeddedError(
        dataDir,
        `its path is no directory (${error.message})`,
        `Move that file away, or ${ELSEWHERE}`,
        error,
      )
    default:
      return error
  }
}
