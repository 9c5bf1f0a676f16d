import { type Answer, type ListBody, refusals, refuse } from './answer.ts'
import type { AccountList, ChannelList, ListQuery, Source } from './endpoint.ts'
import type { FaultEffect } from './faults.ts'
import { createParamReader, type ParamReader, type Params } from './params.ts'
import type { Channel } from './world/world.ts'

/** Reads the parameters of a list endpoint and serves the page, as faults would have it. */
export function answerList(
  list: ChannelList | AccountList,
  params: Params,
  channel: Channel | undefined,
  effects: readonly FaultEffect[],
  source: Source,
): ListBody | Answer {
  const reader = createParamReader(params)
  const asked = readQuery(list, reader, source)
  if (reader.refusal) return refuse(list.family, reader.refusal, source.switches.errcodeStatus)
  const query = effects.reduce((before, effect) => effect.query?.(before) ?? before, asked)
  if (list.scope === 'account') return list.serve(query, source)
  if (!channel) return refuse(list.family, refusals.noActivity, source.switches.errcodeStatus)
  return list.serve(query, source, channel)
}

function readQuery(list: ChannelList | AccountList, reader: ParamReader, source: Source): ListQuery {
  const page = reader.count(list.pageParam) ?? 1
  const pageSize = readPageSize(list, reader, source)
  return { page, pageSize, echoPage: page, echoPageSize: pageSize, ...list.readFilters(reader) }
}

function readPageSize(list: ChannelList | AccountList, reader: ParamReader, { switches }: Source): number {
  const asked = reader.count(list.sizeParam) ?? list.defaultPageSize
  if (asked <= list.maxPageSize) return asked
  switch (switches.aboveMaximum) {
    case 'clamp':
      return list.maxPageSize
    case 'default':
      return list.defaultPageSize
    case 'error':
      reader.refuse(refusals.invalid(list.sizeParam))
      return list.maxPageSize
  }
}
