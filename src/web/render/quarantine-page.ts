import type { QuarantineReason, ShownItem } from '../../ledger/quarantine-reasons.ts'
import { foreign, type Html, html, maskJson, maskValues } from '../html.ts'
import { streamNames } from '../../streams/registry.ts'
import {
  actionForm,
  choice,
  dataTable,
  lockedNote,
  moment,
  pagination,
  section,
  streamName,
  type View,
} from './view.ts'

/** What of the quarantine is asked for; empty text for no wish. */
export interface QuarantineFilter {
  readonly stream: string
  /** From 1. */
  readonly page: number
}

/** Each row that could not be read, masked, with its reason; and a button to try them all again. */
export function quarantinePage(
  view: View,
  { stream, page }: QuarantineFilter,
  found: { readonly items: readonly ShownItem[]; readonly hasMore: boolean },
): Html {
  const { messages } = view
  const { columns, actions } = messages
  const streams = streamNames.map((name) => [name, streamName(view, name)] as const)
  const table = dataTable<ShownItem>({
    caption: messages.sections.quarantine,
    className: 'worded',
    columns: [
      {
        head: columns.reason,
        cell: ({ reason, path }) =>
          html`<span lang="en">${foreign(maskValues(reason), 300)}</span>${path !== '' && html` <code>${path}</code>`}`,
      },
      { head: columns.stream, cell: (item) => streamName(view, item.stream) },
      { head: columns.partition, cell: ({ partition }) => foreign(partition, 60) },
      { head: columns.row, cell: ({ raw }) => html`<code class="masked"><bdi>${maskJson(raw)}</bdi></code>` },
      { head: columns.lastSeen, cell: ({ lastSeenAt }) => moment(view, lastSeenAt) },
    ],
    rows: found.items,
    empty: messages.empty.quarantine,
  })
  const retry = actionForm(view, 'retry', actions.retry, html`<p class="note">${actions.retryNote}</p>`)
  return html`<h1>${messages.pages.quarantine}</h1>
<form class="filter" method="get" action="/quarantine" role="search">
${choice(view, 'stream', columns.stream, stream, streams)}
<button type="submit">${messages.filter.apply}</button>
</form>
${found.items.length > 0 && retry}
${found.items.length > 0 && lockedNote(view, 'livehouse quarantine retry')}
${section(messages, 'quarantine', html`${table}${pagination(view, '/quarantine', { stream }, page, found.hasMore)}`)}`
}

/** Why rows are in quarantine, and how many. */
export function reasonsSection(view: View): Html {
  const { messages, facts } = view
  const { columns } = messages
  const table = dataTable<QuarantineReason>({
    caption: messages.sections.quarantine,
    columns: [
      { head: columns.reason, cell: ({ reason }) => html`<span lang="en">${foreign(maskValues(reason), 200)}</span>` },
      {
        head: columns.stream,
        cell: ({ stream }) =>
          html`<a href="/quarantine?stream=${encodeURIComponent(stream)}">${streamName(view, stream)}</a>`,
      },
      { head: columns.items, cell: ({ items }) => messages.formats.number(items), isNumber: true },
      { head: columns.lastSeen, cell: ({ lastSeenAt }) => moment(view, lastSeenAt) },
    ],
    rows: facts.quarantine.reasons,
    empty: messages.empty.quarantine,
  })
  return section(messages, 'quarantine', table)
}
