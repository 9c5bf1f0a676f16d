import type { QuarantineGroup, ShownItem } from '../../ledger/quarantine/quarantine-reasons.ts'
import { streamNames } from '../../streams/registry.ts'
import { type Html, html, isolate, maskJson, maskMessage, maskValues } from '../html.ts'
import { reasonInChinese } from '../words/reasons.ts'
import { type Column, choice, filterForm, type ListPage, pagination, tableSection } from './table.ts'
import { actionForm, link, moment, streamName, type View } from './view.ts'

/**
 * The rows that could not be read, masked and with their reasons, and a button to retry all of them.
 * @param stream the only stream shown; empty for all
 */
export function quarantinePage(view: View, stream: string, list: ListPage<ShownItem>): Html {
  const { messages } = view
  const { actions, columns: words } = messages
  const streams = streamNames.map((name) => [name, streamName(view, name)] as const)
  const columns: readonly Column<ShownItem>[] = [
    ['reason', ({ reason, path }) => html`${reasonText(view, reason)}${path && html` <code>${path}</code>`}`],
    ['stream', (item) => streamName(view, item.stream)],
    ['partition', ({ partition }) => isolate(partition, 60)],
    [
      'row',
      ({ raw }) => html`<details><summary>${messages.filter.apply}</summary>
<code class="masked"><bdi>${maskJson(raw)}</bdi></code></details>`,
    ],
    ['lastSeen', ({ lastSeenAt }) => moment(view, lastSeenAt)],
  ]
  const note = html`<p class="note">${actions.retryNote}</p>`
  return html`<h1>${messages.pages.quarantine}</h1>
${filterForm(view, '/quarantine', choice(view, 'stream', words.stream, stream, streams))}
${list.rows.length > 0 && actionForm(view, 'retry', actions.retry, note, 'livehouse quarantine retry')}
${tableSection(view, 'quarantine', list.rows, columns, {
  className: 'worded',
  more: pagination(view, '/quarantine', { stream }, list),
})}`
}

const MAX_REASONS = 40

/** The reasons why rows are in quarantine, with the number of rows. */
export function reasonsSection(view: View): Html {
  const largest = view.facts.quarantine.toSorted((a, b) => b.items - a.items).slice(0, MAX_REASONS)
  return tableSection<QuarantineGroup>(view, 'quarantine', largest, [
    ['reason', ({ reason }) => reasonText(view, reason)],
    ['stream', ({ stream }) => html`<a href="${link('/quarantine', { stream })}">${streamName(view, stream)}</a>`],
    ['rows', ({ items }) => items],
    ['lastSeen', ({ lastSeenAt }) => moment(view, lastSeenAt)],
  ])
}

/** A reason with its values masked, in Chinese on a Chinese page if there is a translation. */
function reasonText({ messages }: View, reason: string): Html {
  const translated = messages.language === 'en' ? undefined : reasonInChinese(maskValues(reason))
  return translated === undefined ? maskMessage(reason) : isolate(translated, 300)
}
