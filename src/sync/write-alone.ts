import type { Transaction } from 'kysely'
import { hasCode } from '../core/errors.ts'
import type { Database } from '../store/database.ts'
import { mayNotRecord } from './slice-errors.ts'
import type { RunDeps, Slice } from './slice-work.ts'

type Deps = Pick<RunDeps, 'db' | 'requireLease'>

/** Writes something of a slice that has no rows to be committed with. @throws lease.lost */
export async function writeAlone(
  { stream, partition }: Slice,
  write: (trx: Transaction<Database>) => Promise<void>,
  { db, requireLease }: Deps,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await write(trx)
    await requireLease(trx, stream.name, partition)
  })
}

/** The same of one that failed, as far as it may be written. @returns the error that it ends with */
export async function writeFailure(
  slice: Slice,
  error: unknown,
  write: (trx: Transaction<Database>) => Promise<void>,
  deps: Deps,
): Promise<unknown> {
  if (mayNotRecord(error)) return error
  try {
    await writeAlone(slice, write, deps)
    return error
  } catch (failure) {
    if (hasCode(failure, 'lease.lost')) return failure
    throw failure
  }
}
