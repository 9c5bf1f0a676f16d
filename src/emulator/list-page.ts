import { type Answer, listAnswer, refusals, refuse } from './answer.ts'
import type { AccountList, ChannelList, Echo, Envelope, ListQuery, Served, Source } from './endpoint.ts'
import type { FaultEffect } from './faults.ts'
import { createParamReader, type ParamReader, type Params } from './params.ts'
import type { Switches } from './switches.ts'
import type { Channel } from './world/world.ts'

/** Reads the parameters of a list endpoint and serves the page, as faults would have it. */
export function answerList(
  list: ChannelList | AccountList,
  params: Params,
  channel: Channel | undefined,
  effects: readonly FaultEffect[],
  source: Source,
): Answer {
  const reader = createParamReader(params)
  const asked = readQuery(list, reader, source)
  if (reader.refusal) return refuse(list.family, reader.refusal, source.switches.errcodeStatus)
  const query = effects.reduce((before, effect) => effect.query?.(before) ?? before, asked)
  if (list.scope === 'account') return servePage(list, query, source, list.serve(query, source))
  if (!channel) return refuse(list.family, refusals.noActivity, source.switches.errcodeStatus)
  const served = list.serve(query, source, channel)
  if (served === undefined) return refuse(list.family, refusals.notFound('question'), source.switches.errcodeStatus)
  return servePage(list, query, source, served)
}

function readQuery(list: ChannelList | AccountList, reader: ParamReader, source: Source): ListQuery {
  const page = reader.count(list.pageParam) ?? 1
  const pageSize = readPageSize(list, reader, source)
  return { page, pageSize, echoPage: page, echoPageSize: pageSize, ...list.readFilters(reader) }
}

function readPageSize(list: ChannelList | AccountList, reader: ParamReader, { switches }: Source): number {
  const asked = reader.count(list.sizeParam) ?? list.defaultPageSize
  if (asked <= list.maxPageSize) return asked
  if (switches.aboveMaximum === 'error') reader.refuse(refusals.invalid(list.sizeParam))
  return switches.aboveMaximum === 'default' ? list.defaultPageSize : list.maxPageSize
}

/** Cuts the page out of the rows; beyond the last one the switch decides. */
function servePage(
  { family }: ChannelList | AccountList,
  query: ListQuery,
  { switches }: Source,
  { rows, envelope, cacheKey }: Served,
): Answer {
  const { pageSize } = query
  const lastPage = Math.max(1, Math.ceil(rows.count / pageSize))
  const isBeyond = query.page > lastPage
  if (isBeyond && switches.beyondLastPage === 'error') {
    return refuse(family, refusals.invalid('page'), switches.errcodeStatus)
  }
  const repeatsLast = isBeyond && switches.beyondLastPage === 'repeat-last'
  const page = repeatsLast ? lastPage : query.page
  const echo: Echo = { page: repeatsLast ? lastPage : query.echoPage, pageSize: query.echoPageSize }
  const start = (page - 1) * pageSize
  const end = Math.min(rows.count, start + pageSize)
  return listAnswer({
    kind: 'list',
    items: () => (start < end ? rows.slice(start, end) : []),
    total: rows.count,
    envelope: (items, total) => envelope(items, total, echo, switches),
    cacheKey: `${cacheKey}|${JSON.stringify(query)}|${JSON.stringify(switches)}`,
  })
}

/** The list as the envelope carries it: an empty one may be null or missing. */
export function listField(name: string, items: readonly unknown[], { emptyLists }: Readonly<Switches>): object {
  if (items.length > 0 || emptyLists === 'array') return { [name]: items }
  return emptyLists === 'null' ? { [name]: null } : {}
}

/** A total as number or as text. */
export function totalField(total: number, { totals }: Readonly<Switches>): number | string {
  return totals === 'text' ? String(total) : total
}

/** Of 4.5 and 4.7. */
export const resultsEnvelope: Envelope = (items, total, { page, pageSize }, switches) => ({
  total_num: totalField(total, switches),
  total_page: Math.ceil(total / pageSize),
  page_num: page,
  page_size: pageSize,
  ...listField('results', items, switches),
})

/** Of 4.6 and 4.12. */
export const bareEnvelope: Envelope = (items) => items

/** Of 4.8 and 4.9, which echoes `perPage` as text. */
export function accountEnvelope(sizeOf: (pageSize: number) => number | string): Envelope {
  return (items, total, { page, pageSize }, switches) => ({
    page: { p: page, perPage: sizeOf(pageSize), count: totalField(total, switches) },
    ...listField('data', items, switches),
  })
}
