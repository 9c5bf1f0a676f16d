import type { Row } from '../../src/core/column.ts'
import { noCounts } from '../../src/core/outcome.ts'
import type { Page, PageRequest } from '../../src/core/page.ts'
import type { Window } from '../../src/core/slice.ts'
import type { StreamName } from '../../src/core/stream.ts'
import { findStream } from '../../src/streams/registry.ts'
import { extractUnkeyed } from '../../src/sync/extract-unkeyed.ts'
import type { Extraction } from '../../src/sync/judge-walk.ts'
import { openReading } from '../../src/sync/open-reading.ts'
import { createCallMeter } from '../../src/sync/slice-work.ts'
import { scriptedDeps } from './scripted-deps.ts'
import { scriptPages } from './scripted-pages.ts'

interface ScriptedSlice {
  readonly answer: (request: PageRequest, call: number) => Page
  readonly pageSize: number
  readonly window: Window
}

/** Extracts a slice of rows without an id from scripted pages; `loaded` is what it would have written. */
export async function readSlice(
  name: StreamName,
  { answer, pageSize, window }: ScriptedSlice,
): Promise<{ readonly loaded: readonly Row[]; readonly extraction: Extraction; readonly asked: readonly number[] }> {
  const stream = findStream(name)
  if (!stream?.identity) throw new Error(`rows of ${name} have an id`)
  const { fetchPage, asked } = scriptPages(answer)
  const loaded: Row[] = []
  const deps = scriptedDeps(fetchPage)
  const partition = { channel: '9', type: 'cash', question: 'q1' }
  const slice = { stream: { ...stream, pageSize }, partition, window, covers: window }
  const loader = {
    add: async (rows: readonly Row[]) => void loaded.push(...rows),
    flush: async () => {},
    finish: async () => {},
    settle: async () => {},
    counts: () => noCounts,
  }
  const reading = openReading(slice, deps, createCallMeter())
  const read = await extractUnkeyed(slice, stream.identity, reading, deps, loader, () => false)
  if (read.kind === 'unread') throw new Error('nothing bounds the list')
  return { loaded, extraction: read.extraction, asked }
}
