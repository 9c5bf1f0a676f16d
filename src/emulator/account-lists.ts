import { formatWallDate, type WallTime } from '../core/wall-clock.ts'
import type { Cell } from '../core/column.ts'
import type { EndpointName, Envelope, ListEndpoint } from './endpoint.ts'
import * as fields from './fields.ts'
import { accountEnvelope, byPages, serveRows } from './list-page.ts'
import type { Manager } from './world/world.ts'

const ofAccount = { ...byPages, method: 'GET', version: 'v1', scope: 'account' } as const

/** @param constants columns that come from no field */
function managerList(
  table: string,
  shown: readonly fields.Field<Manager>[],
  envelope: Envelope,
  constants: (now: WallTime) => Readonly<Record<string, Cell>> = () => ({}),
): Pick<ListEndpoint, 'serve' | 'truth'> {
  return {
    serve: (query, { world, switches }) =>
      serveRows(world.managers, query, switches, {
        keep: (row) => !query.filters?.username || row.username === query.filters.username,
        identity: (row) => row.id,
        toWire: (row) => fields.wireRow(shown, row),
        envelope,
      }),
    truth: ({ managers }, second, now) => ({
      [table]: managers.rows.map((row) => ({ ...fields.truthRow(shown, row, second), ...constants(now) })),
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
    ...managerList('manager_usage', fields.usageFields, accountEnvelope(Number), (now) => ({
      snapshot_date: formatWallDate(now),
    })),
  },
  managers: {
    ...ofAccount,
    ...managerList('managers', fields.managerFields, accountEnvelope(String)),
  },
}
