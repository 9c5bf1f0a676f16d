import { hostname } from 'node:os'

/** This process among all that share a database, for people. */
export function workerName(): string {
  return `${hostname()} process ${process.pid}`
}
