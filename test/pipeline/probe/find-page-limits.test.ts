import { expect, test } from 'vitest'
import { findPageLimits } from '../../../src/pipeline/probe/find-page-limits.ts'
import type { Question, Reply } from '../../../src/pipeline/probe/questioner.ts'
import { pageOf } from '../../helpers/scripted-pages.ts'

/** A bare array of so many gifts; `past` says what a page beyond the last holds. */
function giftsOf(count: number, largest: number, past: 'empty' | 'repeat') {
  return async ({ page = 1, pageSize }: Question): Promise<Reply> => {
    const size = Math.min(pageSize, largest)
    const last = Math.max(1, Math.ceil(count / size))
    const served = past === 'repeat' ? Math.min(page, last) : page
    const ids = Array.from({ length: count }, (_, gift_id) => ({ gift_id }))
    return { kind: 'page', page: pageOf(ids.slice((served - 1) * size, served * size), { total: undefined }) }
  }
}

async function limitsOf(count: number, largest: number, past: 'empty' | 'repeat') {
  const ask = giftsOf(count, largest, past)
  const list = { endpoint: 'giftRunning', channelId: '9', type: 'cash' } as const
  const first = await ask({ list, pageSize: 100 })
  const facts = await findPageLimits(
    { ask },
    {
      subject: 'giftRunning',
      list,
      defaultSize: 20,
      largestSize: 100,
      first: first.kind === 'page' ? first.page : undefined,
      missing: '',
    },
  )
  return Object.fromEntries(facts.map(({ topic, answer }) => [topic, answer]))
}

test.each([
  // Exactly one full page: the maximum and what was asked for would bring the same.
  [100, 100, 'empty', 'empty', null],
  [100, 100, 'repeat', 'the last page again', null],
  [100, 1000, 'empty', 'empty', null],
  [130, 100, 'empty', 'empty', 'the maximum'],
  [130, 1000, 'repeat', 'the last page again', 'as asked'],
  // Where a bare array ends is not known when two pages are full.
  [250, 100, 'empty', null, 'the maximum'],
  [250, 1000, 'empty', null, 'as asked'],
] as const)('%d gifts, %d served at most, then %s', async (count, largest, past, pastLast, aboveMaximum) => {
  expect(await limitsOf(count, largest, past)).toEqual({ past_last_page: pastLast, above_maximum: aboveMaximum })
})
