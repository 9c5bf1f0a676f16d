import { streamNames } from '../../streams/registry.ts'
import type { ListedChannel } from '../../ledger/channel-states.ts'
import type { LedgerUnit } from '../../ledger/latest-readings.ts'
import type { OpenReading } from '../../ledger/open-readings.ts'
import { foreign, type Html, html } from '../html.ts'
import { timelineOf } from '../timeline.ts'
import { isLate, isToBeRead } from '../verdict.ts'
import { lastRead, reachOf, unmarked } from './streams-section.ts'
import { timelineLegend, timelinePatterns, timelineStrip } from './timeline-strip.ts'
import { link, section, type View, mark, dataTable } from './view.ts'
import type { OpenCounts } from '../words/sentences-en.ts'

/** What of the list is asked for; empty text for no wish. */
export interface ChannelFilter {
  readonly q: string
  readonly group: string
  readonly state: string
  /** `open`: only channels with open points. */
  readonly show: string
  /** From 1. */
  readonly page: number
}

const PAGE_SIZE = 50

interface ChannelRow {
  readonly channel: ListedChannel
  readonly units: readonly LedgerUnit[]
  readonly open: readonly OpenReading[]
  readonly counts: OpenCounts
}

/** The channels, filtered and a page at a time: those with open points first. */
export function channelsPage(view: View, filter: ChannelFilter): Html {
  const { messages, facts } = view
  const { formats, filter: words } = messages
  const found = rowsOf(view).filter((row) => matches(row, filter))
  const pages = Math.max(1, Math.ceil(found.length / PAGE_SIZE))
  const page = Math.min(Math.max(1, filter.page), pages)
  const shown = found.slice((page - 1) * PAGE_SIZE, page * PAGE_SIZE)
  const count = words.found(formats.number(found.length), formats.number(facts.channels.length))
  return html`<h1>${messages.pages.channels}</h1>
${filterForm(view, filter)}
${section(
  messages,
  'channels',
  html`<p class="count">${count}</p>
${timelinePatterns}${table(view, shown)}
${shown.length > 0 && timelineLegend(messages)}
${unmarked(view)}
${pages > 1 && pagination(view, filter, page, pages)}`,
)}`
}

/** Those with open points first, else by id, numbers as numbers. */
function rowsOf({ facts, expectations }: View): readonly ChannelRow[] {
  const units = Map.groupBy(facts.units, ({ channelId }) => channelId)
  const open = Map.groupBy(
    facts.open.filter(({ kind }) => kind !== 'accepted'),
    ({ channelId }) => channelId,
  )
  const problems = Map.groupBy(facts.problems, ({ channelId }) => channelId)
  const rows = facts.channels.map((channel): ChannelRow => {
    const own = units.get(channel.channelId) ?? []
    const readings = open.get(channel.channelId) ?? []
    const read = new Set(own.map(({ stream }) => stream))
    const unread = streamNames.filter(
      (stream) => !read.has(stream) && isToBeRead(stream, channel.channelId, expectations),
    ).length
    const isActive = channel.state === 'active'
    return {
      channel,
      units: own,
      open: readings,
      counts: {
        problems: (problems.get(channel.channelId) ?? []).reduce((sum, each) => sum + each.readings, 0),
        gaps: own.reduce((sum, { gaps }) => sum + gaps, 0),
        late: isActive ? unread + own.filter((unit) => isLate(facts, unit, expectations)).length : 0,
      },
    }
  })
  const byId = new Intl.Collator('en', { numeric: true })
  return rows.toSorted((a, b) => weight(b) - weight(a) || byId.compare(a.channel.channelId, b.channel.channelId))
}

function weight(row: ChannelRow): number {
  if (row.channel.state !== 'active') return -1
  return openCount(row) > 0 ? 1 : 0
}

function openCount({ counts: { problems, gaps, late } }: ChannelRow): number {
  return problems + gaps + late
}

function matches(row: ChannelRow, { q, group, state, show }: ChannelFilter): boolean {
  const { channel } = row
  const text = [channel.channelId, channel.name, channel.label].join('\n').toLowerCase()
  return (
    text.includes(q.trim().toLowerCase()) &&
    (group === '' || channel.group === group) &&
    (state === '' || channel.state === state) &&
    (show !== 'open' || openCount(row) > 0)
  )
}

function filterForm({ messages, facts }: View, filter: ChannelFilter): Html {
  const { filter: words, channelStates } = messages
  const groups = [...new Set(facts.channels.flatMap(({ group }) => group ?? []))].toSorted()
  const option = (value: string, text: string, chosen: string): Html =>
    html`<option value="${value}"${value === chosen && html` selected`}>${text}</option>`
  const states = (['active', 'retired', 'gone'] as const).map((state) =>
    option(state, channelStates[state], filter.state),
  )
  const groupField = html`<label>${words.group}<select name="group">${option('', words.all, filter.group)}${groups.map((each) => option(each, each, filter.group))}</select></label>`
  return html`<form class="filter" method="get" action="/channels" role="search">
<label>${words.search}<input type="search" name="q" value="${filter.q}" maxlength="100"></label>
${groups.length > 0 && groupField}
<label>${words.state}<select name="state">${option('', words.all, filter.state)}${states}</select></label>
<label class="check"><input type="checkbox" name="show" value="open"${filter.show === 'open' && html` checked`}>${words.onlyOpen}</label>
<button type="submit">${words.apply}</button>
</form>`
}

function table(view: View, rows: readonly ChannelRow[]): Html {
  const { messages, facts, expectations } = view
  const { columns } = messages
  const { now, timeZone } = facts
  const { rangeOf } = expectations
  return dataTable<ChannelRow>({
    caption: messages.sections.channels,
    className: 'channels',
    columns: [
      { head: columns.channel, cell: ({ channel }) => channelName(view, channel) },
      { head: columns.state, cell: (row) => stateOf(view, row) },
      { head: columns.lastRead, cell: ({ units }) => lastRead(view, units) },
      {
        head: columns.coveredUntil,
        cell: ({ units }) => (units.length === 0 ? messages.notKnown : reachOf(view, units)),
      },
      {
        head: columns.timeline,
        cell: ({ units, open }) =>
          timelineStrip(
            messages,
            timelineOf({
              now,
              timeZone,
              units: units.filter(({ isWindowed }) => isWindowed),
              open,
              walkDays: [],
              rangeOf,
            }),
            true,
          ),
      },
    ],
    rows,
    empty: messages.empty.channels,
  })
}

function channelName(view: View, { channelId, name, label, group, isTest }: ListedChannel): Html {
  const shown = label ?? name
  const others = [channelId, ...(label !== null && name !== null ? [name] : []), ...(group === null ? [] : [group])]
  return html`<a href="${link(`/channels/${encodeURIComponent(channelId)}`)}">${foreign(shown ?? channelId)}</a> <small>${others.map((each, index) => html`${index > 0 && ' · '}${foreign(each, 60)}`)}${isTest && ` · ${view.messages.channel.test}`}</small>`
}

function stateOf({ messages }: View, row: ChannelRow): Html {
  const { channel, counts } = row
  if (channel.state !== 'active') return mark('calm', messages.channelStates[channel.state])
  if (openCount(row) === 0) return mark('good', messages.channelStates.active)
  return html`<span class="marks">${messages.channel.open(counts, messages.formats).map((words) => mark('bad', words))}</span>`
}

function pagination({ messages }: View, filter: ChannelFilter, page: number, pages: number): Html {
  const { filter: words, formats } = messages
  const to = (number: number): string =>
    link('/channels', { q: filter.q, group: filter.group, state: filter.state, show: filter.show, page: `${number}` })
  return html`<nav class="pages" aria-label="${words.pagination}">
${page > 1 && html`<a rel="prev" href="${to(page - 1)}">${words.previous}</a>`}
<span aria-current="page">${words.page(formats.number(page), formats.number(pages))}</span>
${page < pages && html`<a rel="next" href="${to(page + 1)}">${words.next}</a>`}
</nav>`
}
