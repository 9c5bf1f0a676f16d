import { expect, test } from 'vitest'
import type { StreamName } from '../../../src/core/stream.ts'
import { makeReading } from '../../helpers/status-facts.ts'
import { describeOpenPoints } from '../../../src/cli/status/report.ts'

const gapsOf = (...streams: readonly StreamName[]) => ({
  open: streams.map((stream) => makeReading({ kind: 'gap', stream })),
  openCounts: { gap: streams.length, problem: 0, accepted: 0 },
})
const named =
  'watch_records_v1 is read only where it is named: by livehouse sync --streams watch_records_v1, or by the job v1-history.'

test.each<[string, readonly StreamName[], readonly string[]]>([
  [
    'what every sync reads',
    ['gifts'],
    ['The next livehouse sync reads all of this; livehouse backfill --only-gaps fills a range at once.'],
  ],
  ['what has to be named', ['watch_records_v1'], [named]],
  [
    'both',
    ['gifts', 'watch_records_v1'],
    [named, 'The next livehouse sync reads the rest of this; livehouse backfill --only-gaps fills a range at once.'],
  ],
  ['nothing', [], []],
])('how gaps are closed: %s', (_, streams, lines) => {
  expect(describeOpenPoints(gapsOf(...streams)).filter((line) => line !== '' && !line.startsWith('✗'))).toEqual(lines)
})
