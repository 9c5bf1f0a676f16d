import type { RawBuilder } from 'kysely'
import { expect } from 'vitest'
import { audit } from '../../src/cli/audit.ts'
import { firstRows } from './first-rows.ts'
import { startAccount } from './start-account.ts'

export interface AuditedPartition {
  readonly stream: string
  readonly verdict: string
  readonly differences: readonly { readonly kind: string; readonly keys?: readonly string[] }[]
  readonly reopened: readonly unknown[]
  readonly source_rows: number
  readonly warehouse_rows: number
  readonly notes: readonly string[]
}

/** Starts an account whose warehouse was filled an hour ago, with its first rows and ways to audit it. */
export async function startFilled() {
  const account = await startAccount()
  expect(await account.sync()).toMatchObject({ code: 0 })
  account.clock.passHours(1)
  return Object.assign(account, {
    ...firstRows(account.emulator),
    change: async (statement: RawBuilder<unknown>) => {
      const { numAffectedRows } = await statement.execute(account.database.db)
      expect(numAffectedRows).toBe(1n)
    },
    text: async (...argv: string[]) => {
      const { code, printed } = await account.run(audit, argv)
      return { code, out: printed.join('\n') }
    },
    /** Audits the account. @returns what it reports for each partition */
    runAudit: async (...argv: string[]): Promise<readonly AuditedPartition[]> =>
      (await account.runJson(audit, argv)).audit.partitions,
  })
}
