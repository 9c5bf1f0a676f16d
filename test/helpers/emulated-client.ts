import assert from 'node:assert/strict'
import type { ListRequest } from '../../src/core/page.ts'
import type { Partition, Window } from '../../src/core/slice.ts'
import { findStream } from '../../src/streams/registry.ts'

/** The request for a list of a stream, such as that of a channel. */
export function listOf(name: string, partition: Partition = {}, window?: Window): ListRequest {
  return { stream: findStream(name) ?? assert.fail(`there is no stream ${name}`), partition, window }
}
