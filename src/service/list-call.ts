import { LivehouseError } from '../core/errors.ts'
import { describeList, type ListRequest, type PageRequest } from '../core/page.ts'
import { endpointOf } from '../core/stream.ts'
import { formatWallTime } from '../core/wall-clock.ts'
import type { Call } from './send.ts'

/** Where 4.8 and 4.9 expect their parameters. */
export type ListPlace = 'query' | 'body'

/**
 * The call for one page of a list, as its stream's wire says, every parameter given.
 * @param place only where the wire does not say it
 * @throws LivehouseError `api.invalidRequest` for a channel id that could not stand in a path.
 */
export function listCall(request: PageRequest, place: ListPlace = 'query'): Call {
  const { list, page, pageSize } = request
  const { wire, isBudgeted = false } = list.stream
  const { channel } = list.partition
  const name = `${wire.method} ${describeList(list)} page ${page}`
  const parameters = {
    ...wire.constants,
    ...partsOf(list),
    ...windowOf(list),
    [wire.paging.size]: pageSize,
    [wire.paging.page]: page,
  }
  const texts = () => Object.fromEntries(Object.entries(parameters).map(([key, value]) => [key, String(value)]))
  return {
    endpoint: endpointOf(list.stream),
    name,
    method: wire.method,
    host: 'base',
    path: wire.path.replace('{channel}', () => channelIn(channel, name)),
    ...(wire.place === 'unknown' && place === 'query' ? { query: texts() } : { body: parameters }),
    ...(wire.path.includes('{channel}') && channel !== undefined ? { channelId: channel } : {}),
    authorization: 'bearer',
    repeat: isBudgeted ? 'once' : 'read',
    isBudgeted,
  }
}

/**
 * The channel id as a part of a path.
 * @param name of the call, for the message
 * @throws LivehouseError `api.invalidRequest`
 */
export function channelIn(channelId = '', name: string): string {
  if (/^[\w-]+$/.test(channelId)) return channelId
  const [rule, given] = ['a channel id consists of letters, digits, - and _', JSON.stringify(channelId.slice(0, 100))]
  const message = `${name}: ${rule}, but ${given} was given; no call was made`
  throw new LivehouseError('api.invalidRequest', message, { call: name, rule, given })
}

function partsOf({ stream, partition }: ListRequest): Readonly<Record<string, string>> {
  const parts = Object.entries(stream.wire.parts ?? {})
  return Object.fromEntries(parts.map(([parameter, part]) => [parameter, partition[part] ?? '']))
}

function windowOf({ stream, window }: ListRequest): Readonly<Record<string, string>> {
  const names = stream.wire.window
  if (names === undefined || window === undefined) return {}
  return { [names.from]: formatWallTime(window.from), [names.to]: formatWallTime(window.to) }
}
