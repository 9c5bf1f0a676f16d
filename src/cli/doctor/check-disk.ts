import { statfs } from 'node:fs/promises'
import { type Check, passed } from './check.ts'

const GIB = 1024 ** 3
/** PostgreSQL stops when it cannot write; a large sync writes some hundred megabytes of log besides its rows. */
const LEAST_BYTES = 0.5 * GIB
const FEW_BYTES = 2 * GIB

/** The room beside the embedded PostgreSQL. */
export async function checkDisk(dataDir: string, databaseBytes: number): Promise<Check> {
  const { bavail, bsize } = await statfs(dataDir)
  return judgeRoom(dataDir, bavail * bsize, databaseBytes)
}

/** How much room is left. */
export function judgeRoom(dataDir: string, freeBytes: number, databaseBytes: number): Check {
  const name = 'disk'
  const seen = `${inUnits(freeBytes)} free in ${dataDir}; the database takes ${inUnits(databaseBytes)}`
  if (freeBytes >= FEW_BYTES) return passed(name, seen)
  const mend = 'make room there, or move LIVEHOUSE_DATA_DIR to a larger disk while livehouse db is stopped'
  return { name, result: freeBytes < LEAST_BYTES ? 'failed' : 'warning', seen, mend }
}

/** What can be known of a server from here. */
export function describeServerDisk(databaseBytes: number): Check {
  return passed('disk', `the database takes ${inUnits(databaseBytes)}; the server's room cannot be seen from here`)
}

function inUnits(bytes: number): string {
  return bytes < GIB ? `${Math.round(bytes / 1024 ** 2)} MiB` : `${(bytes / GIB).toFixed(1)} GiB`
}
