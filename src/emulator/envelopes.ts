import type { Envelope } from './endpoint.ts'
import type { Switches } from './switches.ts'

/** The field of an envelope that holds the list. An empty list may be null, or the field missing. */
export function listField(name: string, items: readonly unknown[], { emptyLists }: Readonly<Switches>): object {
  if (items.length > 0 || emptyLists === 'array') return { [name]: items }
  return emptyLists === 'null' ? { [name]: null } : {}
}

function totalField(total: number, { totals }: Readonly<Switches>): number | string {
  return totals === 'text' ? String(total) : total
}

/** The envelope of 4.5 and 4.7. */
export const resultsEnvelope: Envelope = (items, total, { page, pageSize }, switches) => ({
  total_num: totalField(total, switches),
  total_page: Math.ceil(total / pageSize),
  page_num: page,
  page_size: pageSize,
  ...listField('results', items, switches),
})

/** The bare array of 4.6 and 4.12. */
export const bareEnvelope: Envelope = (items, _total, _echo, { emptyLists }) =>
  items.length === 0 && emptyLists === 'null' ? null : items

/** The envelope of 4.8 and 4.9. `sizeOf`: how `perPage` is echoed, which is text in 4.9. */
export function accountEnvelope(sizeOf: (pageSize: number) => number | string): Envelope {
  return (items, total, { page, pageSize }, switches) => ({
    page: { p: page, perPage: sizeOf(pageSize), count: totalField(total, switches) },
    ...listField('data', items, switches),
  })
}

/** The envelope of 4.10 and 4.11. `name`: the field of the list. */
export function errcodeEnvelope(name: string): Envelope {
  return (items, total, { page, pageSize }, switches) => ({
    errcode: 1000,
    msg: 'OK',
    page_index: page,
    ...listField(name, items, switches),
    size: pageSize,
    total: totalField(total, switches),
  })
}
