import { expect, test } from 'vitest'
import type { Facts } from '../../../src/web/facts.ts'
import { channelsPage } from '../../../src/web/render/channels-page.ts'
import { overviewPage } from '../../../src/web/render/overview-page.ts'
import { verdictSection } from '../../../src/web/render/verdict-section.ts'
import { makeChannel, makeFacts, makeReading, makeRun, makeUnit, makeView } from '../../helpers/status-facts.ts'

const noFilter = { q: '', show: '', page: 1 }

function overview(facts: Facts, language: 'en' | 'zh' = 'en'): string {
  const view = makeView(makeFacts(facts), language)
  return overviewPage(view, verdictSection(view)).toString()
}

test('without JavaScript all numbers are in tables with captions and headings', () => {
  const page = overview(makeFacts())
  const tables = page.match(/<table.*?<\/table>/gs) ?? []
  expect(tables.length).toBeGreaterThanOrEqual(5)
  for (const table of tables)
    for (const part of ['<caption', '<th scope="col"', '<th scope="row"']) expect(table).toContain(part)
  // Rows written, hours watched, first calls and retries of a day, then those of an hour.
  for (const value of ['123', '55', '38', '2', '8', '1']) expect(page).toContain(`data-value="${value}"`)
})

test('progress is listed in the order of the streams, whatever the order in the database', () => {
  const step = { rows: 1, parts: 2, endedParts: 1, share: 0.5 }
  const progress = { gifts: step, managers: step, visitors: step }
  const page = overview(makeFacts({ runs: [makeRun({ status: 'running', finishedAt: null, progress })] }))
  const names = [...page.matchAll(/<progress [^>]*aria-label="([^"]+)"/g)].map(([, name]) => name)
  expect(names).toEqual(['Visitors', 'Gifts', 'Managers'])
})

test('the overview says in how many channels a stream that is read only when named is complete', () => {
  const channels = ['9', '10'].map((channelId) => makeChannel({ channelId }))
  const facts = makeFacts()
  const both = facts.units.flatMap((unit) => [unit, { ...unit, channelId: '10' }])
  const units = [...both, makeUnit({ stream: 'watch_records_v1' })]
  expect(overview({ ...facts, channels, units }).match(/1 of 2 channels until 20 Nov 2026, 02:15/g)).toHaveLength(2)
  expect(overview({ ...facts, units: [...facts.units, ...units.slice(-1)] })).not.toContain('channels until')
})

const channels = Array.from({ length: 1000 }, (_, index) =>
  makeChannel({ channelId: `${index + 1}`, name: `频道 ${index + 1}`, group: index % 2 ? '甲' : '乙' }),
)
const units = channels.flatMap(({ channelId }) =>
  makeFacts().units.map((unit) => ({ ...unit, channelId, gaps: channelId === '777' && unit.isWindowed ? 1 : 0 })),
)
const facts = makeFacts({ channels, units, open: [makeReading({ kind: 'gap', channelId: '777' })] })
const list = (filter: Partial<typeof noFilter>) => channelsPage(makeView(facts), { ...noFilter, ...filter }).toString()
const listedIds = (markup: string) => [...markup.matchAll(/href="\/channels\/(\d+)"/g)].map(([, id]) => id)

test('with a thousand channels the overview shows sums, and stays small', () => {
  const page = overview(facts)
  expect(page.length).toBeLessThan(90_000)
  expect(page).toContain('1,000 verified')
  expect(page).toContain('Watch records, Gifts: gaps in 1 of 1,000 channels: <span')
  const gaps = makeFacts({ ...facts, units: facts.units.map((unit) => ({ ...unit, gaps: 1 })) })
  expect(overview(gaps)).toContain('none of 1,000 channels; read until 20 Nov 2026, 02:15')
  expect(overview(makeFacts({ units: [makeUnit({ gaps: 1 })] }))).toContain('not complete; read until 20 Nov 2026')
  const chinese = verdictSection(makeView(gaps, 'zh')).toString()
  expect(chinese).toMatch(/（1,000 个频道中的 1,000 个）：<span/)
  // No line begins with the separator between two names.
  expect(chinese).toContain('频道 1</bdi></a>、</span><wbr>')
})

test('with a thousand channels the list shows fifty at a time, those with open issues first', () => {
  const first = list({})
  expect(first.length).toBeLessThan(120_000)
  expect(listedIds(first)).toHaveLength(50)
  expect(listedIds(first).slice(0, 3)).toEqual(['777', '1', '2'])
  expect(first).toContain('Page 1')
  expect(listedIds(list({ page: 20 })).at(-1)).toBe('1000')
  expect(listedIds(list({ page: 99 })).at(-1)).toBe('1000')
  expect(listedIds(list({ page: -3 }))[0]).toBe('777')
})

test('with a thousand channels the list can be searched and filtered, and keeps the filter from page to page', () => {
  expect(listedIds(list({ q: '频道 77' }))).toHaveLength(11)
  expect(listedIds(list({ show: 'open' }))).toEqual(['777'])
  expect(list({ q: '甲' })).toContain('500 of 1,000 channels')
  expect(list({ q: '甲' })).toContain('href="/channels?q=%E7%94%B2&amp;page=2"')
  expect(list({ q: 'nobody' })).toContain('No channel matches.')
})
