import type { ListedChannel } from '../../ledger/channels.ts'
import { type Html, html, isolate } from '../html.ts'
import { fill } from '../messages.ts'
import { completeUntil, lastRead } from './streams-section.ts'
import { type Column, filterForm, pagination, tableSection } from './table.ts'
import { mark, type View } from './view.ts'

/** The filter of the list; empty text for none. */
interface ChannelFilter {
  readonly q: string
  /** `open` for only the channels with open issues. */
  readonly show: string
  readonly page: number
}

const PAGE_SIZE = 50

type ChannelRow = ReturnType<typeof rowsOf>[number]

/** One page of the channels that match a filter. */
export function channelsPage(view: View, filter: ChannelFilter): Html {
  const { messages, facts } = view
  const { formats, filter: words } = messages
  const { page: requestedPage, ...parameters } = filter
  const matching = rowsOf(view).filter((row) => matches(row, filter))
  const pages = Math.max(1, Math.ceil(matching.length / PAGE_SIZE))
  const page = Math.min(Math.max(1, requestedPage), pages)
  const rows = matching.slice((page - 1) * PAGE_SIZE, page * PAGE_SIZE)
  const count = { count: formats.number(matching.length), all: formats.number(facts.channels.length) }
  return html`<h1>${messages.pages.channels}</h1>
${channelFilter(view, filter)}
<p class="count">${fill(words.found, count)}</p>
${tableSection(view, 'channels', rows, columnsOf(view), {
  more: pagination(view, '/channels', parameters, { rows, page, hasMore: page < pages }),
})}`
}

/** Channels with open issues first, those no longer active last; else by id, with numbers in numeric order. */
function rowsOf({ facts }: View) {
  const units = Map.groupBy(facts.judged, ({ channelId }) => channelId)
  const problems = Map.groupBy(facts.problems, ({ channelId }) => channelId)
  const rows = facts.channels.map((channel) => {
    const ownUnits = units.get(channel.channelId) ?? []
    // Readings that fell short or failed, gaps, and streams that are late or were never read.
    const counts = {
      problems: (problems.get(channel.channelId) ?? []).reduce((sum, each) => sum + each.readings, 0),
      gaps: ownUnits.reduce((sum, { gaps }) => sum + gaps, 0),
      late: ownUnits.filter(({ fault }) => fault === 'late' || fault === 'unread').length,
    }
    const isOpen = counts.problems + counts.gaps + counts.late > 0
    const rank = channel.state !== 'active' ? 2 : isOpen ? 0 : 1
    return { channel, units: ownUnits, counts, isOpen, rank }
  })
  const byId = new Intl.Collator('en', { numeric: true })
  return rows.toSorted((a, b) => a.rank - b.rank || byId.compare(a.channel.channelId, b.channel.channelId))
}

function matches(row: ChannelRow, { q, show }: ChannelFilter): boolean {
  const { channelId, name, label, group } = row.channel
  const text = [channelId, name, label, group].join('\n').toLowerCase()
  return text.includes(q.trim().toLowerCase()) && (show !== 'open' || row.isOpen)
}

function channelFilter(view: View, { q, show }: ChannelFilter): Html {
  const words = view.messages.filter
  const fields = html`<label>${words.search}<input type="search" name="q" value="${q}" maxlength="100"></label>
<label class="check"><input type="checkbox" name="show" value="open"${show === 'open' && html` checked`}>
${words.onlyOpen}</label>`
  return filterForm(view, '/channels', fields)
}

function columnsOf(view: View): readonly Column<ChannelRow>[] {
  const { notKnown } = view.messages
  return [
    ['channel', ({ channel }) => channelName(view, channel)],
    ['state', (row) => stateOf(view, row)],
    ['lastRead', ({ units }) => lastRead(view, units)],
    ['completeUntil', ({ units }) => (units.length === 0 ? notKnown : completeUntil(view, units))],
  ]
}

function channelName(view: View, { channelId, name, label, group, isTest }: ListedChannel): Html {
  const others = [label === null ? null : name, group, isTest ? view.messages.channel.test : null]
  const more = others.map((each) => each !== null && html` · ${isolate(each, 60)}`)
  const path = `/channels/${encodeURIComponent(channelId)}`
  const link = html`<a href="${path}">${isolate(label ?? name ?? channelId)}</a>`
  return html`${link} <small>${isolate(channelId)}${more}</small>`
}

function stateOf({ messages }: View, row: ChannelRow): Html {
  const { channel, counts, isOpen } = row
  if (channel.state !== 'active') return mark('calm', messages.channelStates[channel.state])
  if (!isOpen) return mark('good', messages.channelStates.active)
  const { number } = messages.formats
  const faults = (['problems', 'gaps', 'late'] as const).filter((name) => counts[name] > 0)
  const marks = faults.map((name) => mark('bad', fill(messages.channel[name], { count: number(counts[name]) })))
  return html`<span class="marks">${marks}</span>`
}
