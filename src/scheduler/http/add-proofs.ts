import { type Proof, proofs } from '../../core/slice.ts'
import type { LedgerUnit } from '../../state/read-ledger-overview.ts'

/** The partitions of several units by their latest proof. */
export function addProofs(units: readonly LedgerUnit[]): Readonly<Partial<Record<Proof, number>>> {
  return Object.fromEntries(
    proofs.map((proof) => [proof, units.reduce((sum, unit) => sum + (unit.proofs[proof] ?? 0), 0)]),
  )
}
