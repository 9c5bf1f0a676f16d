import { LivehouseError } from '../../core/errors.ts'

/** Of `db.embedded`. `repair` is a whole sentence without its full stop. */
export function embeddedError(dataDir: string, reason: string, repair: string, cause?: unknown): LivehouseError {
  const message = `The embedded PostgreSQL in ${dataDir} cannot run: ${reason}. ${repair}.`
  return new LivehouseError('db.embedded', message, {}, { cause })
}

/** Turns a failed file operation in the data directory into one sentence; anything else is returned as it is. */
export function translateFileError(error: unknown, dataDir: string): unknown {
  if (!(error instanceof Error) || !('syscall' in error)) return error
  const repair = 'Make it a directory that this user may write, with room left, or set LIVEHOUSE_DATA_DIR to another'
  return embeddedError(dataDir, `its directory cannot be used (${error.message})`, repair, error)
}
