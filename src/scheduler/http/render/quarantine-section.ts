import type { QuarantineReason } from '../../../state/quarantine-reasons.ts'
import { foreign, type Html, html } from '../html.ts'
import { maskValues } from '../mask-values.ts'
import { dataTable } from './data-table.ts'
import { section } from './section.ts'
import { moment, streamName, type View } from './view.ts'

/** Why rows are in quarantine, and how many; never the rows. */
export function quarantineSection(view: View): Html {
  const { messages, facts } = view
  const { columns } = messages
  const table = dataTable<QuarantineReason>({
    caption: messages.sections.quarantine,
    columns: [
      {
        head: columns.reason,
        cell: ({ reason }) => html`<span lang="en">${foreign(maskValues(reason), 200)}</span>`,
      },
      { head: columns.stream, cell: ({ stream }) => streamName(view, stream) },
      { head: columns.items, cell: ({ items }) => messages.formats.number(items), isNumber: true },
      { head: columns.lastSeen, cell: ({ lastSeenAt }) => moment(view, lastSeenAt) },
    ],
    rows: facts.quarantine.reasons,
    empty: messages.empty.quarantine,
  })
  return section(messages, 'quarantine', table)
}
