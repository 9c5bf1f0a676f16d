import { expect, test } from 'vitest'
import { findRecordFilter } from '../../../src/pipeline/probe/find-record-filter.ts'
import type { Question, Reply } from '../../../src/pipeline/probe/questioner.ts'
import { pageOf } from '../../helpers/scripted-pages.ts'

interface Stay {
  readonly first_login_time: string
  readonly last_online_time: string
}

const stay = (entered: string, left: string): Stay => ({
  first_login_time: `2026-11-20 ${entered}`,
  last_online_time: `2026-11-20 ${left}`,
})
/** The longest stay of the sample, and one within the minutes around its entry. */
const long = stay('10:00', '12:00')
const short = stay('10:00', '10:01')

async function filterOf(accepts: (row: Stay, from: string, to: string) => boolean, rows = [long, short]) {
  const ask = async ({ list }: Question): Promise<Reply> => {
    const { startTime = '', endTime = '' } = list.endpoint === 'userRecordList' ? list : {}
    return { kind: 'page', page: pageOf(rows.filter((row) => accepts(row, startTime, endTime))) }
  }
  const list = { endpoint: 'userRecordList', channelId: '9', filterWatchTime: 0 } as const
  const { fact, minute } = await findRecordFilter({ ask }, { list, page: pageOf(rows), evidence: '' })
  return [fact.answer, minute !== undefined]
}

const isWithin = (time: string, from: string, to: string): boolean => time >= from.slice(0, 16) && time <= to

test.each([
  ['entry', (row: Stay, from: string, to: string) => isWithin(row.first_login_time, from, to)],
  // Around the entry of the long stay only the short one comes, which entered and left there.
  ['leave', (row: Stay, from: string, to: string) => isWithin(row.last_online_time, from, to)],
  // Whoever was there at all, an ignored filter, and one that finds nothing.
  [
    null,
    (row: Stay, from: string, to: string) => row.first_login_time <= to && row.last_online_time >= from.slice(0, 16),
  ],
  [null, () => true],
  [null, () => false],
])('%s', async (answer, accepts) => {
  expect(await filterOf(accepts)).toEqual([answer, answer !== null])
})

test('stays that are shorter than the question is wide tell nothing', async () => {
  expect(await filterOf(() => true, [short])).toEqual([null, false])
})
