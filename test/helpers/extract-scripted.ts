import type { Row } from '../../src/core/column.ts'
import { noCounts } from '../../src/core/outcome.ts'
import type { Page, PageRequest } from '../../src/core/page.ts'
import type { Window } from '../../src/core/slice.ts'
import { formatWallTime, type WallTime } from '../../src/core/wall-clock.ts'
import { findStream } from '../../src/streams/registry.ts'
import { extractSlice } from '../../src/sync/extract-slice.ts'
import type { Extraction } from '../../src/sync/judge-walk.ts'
import { openReading } from '../../src/sync/open-reading.ts'
import { createCallMeter, type Slice } from '../../src/sync/slice-work.ts'
import { scriptedDeps } from './scripted-deps.ts'
import { pageOf, scriptPages } from './scripted-pages.ts'

/** Watch records tell a total and have an id; gifts have neither. */
export type ScriptedStream = 'watch_records' | 'gifts'

/** A list of rows by their times, in the order in which it is served. */
export interface TimedList {
  readonly times: readonly WallTime[]
  /** Whatever else is asked for. */
  readonly largestPage?: number
  readonly beyondLastPage?: 'empty' | 'repeat-last'
}

/** Serves a list as the service does: filtered by time, both ends included. */
export function serveTimed({ times, largestPage = Infinity, beyondLastPage = 'empty' }: TimedList) {
  const items = times.map((time, index) => itemOf(time, index))
  return ({ list, page, pageSize }: PageRequest): Page => {
    const { from, to } = list.window ?? { from: 0, to: 0 }
    const asked = items.filter((_, index) => (times[index] ?? 0) >= from && (times[index] ?? 0) <= to)
    const size = Math.min(pageSize, largestPage)
    const last = Math.max(1, Math.ceil(asked.length / size))
    const number = beyondLastPage === 'repeat-last' ? Math.min(page, last) : page
    const total = list.stream.isCounted ? asked.length : undefined
    return pageOf(asked.slice((number - 1) * size, number * size), { total, echoedPage: page })
  }
}

function itemOf(time: WallTime, index: number): object {
  const at = formatWallTime(time)
  const record = { record_id: index + 1, user_id: `u${index}`, first_login_time: at, last_online_time: at }
  return { ...record, uptime: at, gift_id: index + 1, money: '1.00' }
}

export interface ScriptedSlice {
  readonly window: Window
  readonly extraction: Extraction
}

/** What extracting a window with all its parts brought and took. */
export interface ScriptedExtraction {
  /** As they were read: with rows, or without. */
  readonly slices: readonly ScriptedSlice[]
  readonly loaded: ReadonlySet<unknown>
  /** The numbers of the pages that were asked for. */
  readonly asked: readonly number[]
}

export interface ScriptedOptions {
  readonly window: Window
  readonly pageSize?: number
  readonly signal?: AbortSignal
}

/** Extracts a window and every part that it is cut into, one after the other, from scripted pages. */
export async function extractScripted(
  name: ScriptedStream,
  answer: (request: PageRequest, call: number) => Page,
  { window, pageSize = 100, signal }: ScriptedOptions,
): Promise<ScriptedExtraction> {
  const stream = findStream(name)
  if (!stream) throw new Error(`there is no stream ${name}`)
  const { fetchPage, asked } = scriptPages(answer)
  const deps = scriptedDeps(fetchPage, signal)
  const loaded = new Set<unknown>()
  const loader = {
    add: async (rows: readonly Row[]) => {
      for (const row of rows) loaded.add(row.record_id ?? row.gift_id)
    },
    flush: async () => {},
    finish: async () => {},
    settle: async () => {},
    counts: () => noCounts,
  }
  const whole: Slice = {
    stream: { ...stream, pageSize },
    partition: { channel: '9', type: 'cash' },
    window,
    covers: window,
  }
  const slices: ScriptedSlice[] = []
  const left = [whole]
  for (let slice = left.shift(); slice !== undefined; slice = left.shift()) {
    const result = await extractSlice(slice, openReading(slice, deps, createCallMeter()), deps, loader)
    if (result.kind === 'cut') left.unshift(...result.parts)
    else slices.push({ window: slice.window ?? window, extraction: result.extraction })
  }
  return { slices, loaded, asked }
}
