import type { QuarantinedItem } from './quarantine.ts'

const REASON = 'conflict'

/** An item whose key another version of the interface has for another record, for quarantine. */
export function conflictItem(
  raw: string,
  path: string,
  differing: readonly string[],
): QuarantinedItem & { readonly kind: 'rejected' } {
  const reason = `${REASON}: version 2 has this ${path} with another ${differing.join(' and ')}`
  return { kind: 'rejected', raw, path, reason, headers: null }
}

export function isConflict({ reason }: Pick<QuarantinedItem, 'reason'>): boolean {
  return reason.startsWith(REASON)
}
