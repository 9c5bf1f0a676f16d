import type { EndpointName, Envelope, ListEndpoint } from './endpoint.ts'
import * as fields from './fields.ts'
import { accountEnvelope, byPages, serveRows } from './list-page.ts'
import type { Manager } from './world/world.ts'

const ofAccount = { ...byPages, method: 'GET', version: 'v1', scope: 'account' } as const

function managerList(shown: readonly fields.Field<Manager>[], envelope: Envelope): Pick<ListEndpoint, 'serve'> {
  return {
    serve: (query, { world, switches }) =>
      serveRows(world.managers, query, switches, {
        keep: (row) => !query.filters?.username || row.username === query.filters.username,
        identity: (row) => row.id,
        toWire: (row) => fields.wireRow(shown, row),
        envelope,
      }),
  }
}

/** API 4.8 and 4.9. */
export const accountLists: Readonly<Record<EndpointName, ListEndpoint>> = {
  managersUsage: {
    ...ofAccount,
    defaultPageSize: 1,
    maxPageSize: 10,
    readFilters: (reader) => ({ filters: { username: reader.text('username') } }),
    ...managerList(fields.usageFields, accountEnvelope(Number)),
  },
  managers: {
    ...ofAccount,
    ...managerList(fields.managerFields, accountEnvelope(String)),
  },
}
