import { describe, expect, test } from 'vitest'
import { channelPage } from '../../../src/web/render/channel-page.ts'
import { channelsPage } from '../../../src/web/render/channels-page.ts'
import { overviewPage } from '../../../src/web/render/overview-page.ts'
import { judge } from '../../../src/web/verdict.ts'
import { makeChannel, makeFacts, makeReading, makeRun, makeUnit, makeView, NOW_MS } from '../../helpers/status-facts.ts'
import type { Facts } from '../../../src/web/facts.ts'
import { quarantinePage } from '../../../src/web/render/quarantine-page.ts'
import { runPage } from '../../../src/web/render/run-page.ts'
import { runsPage } from '../../../src/web/render/runs-page.ts'
import { verdictSection } from '../../../src/web/render/verdict-section.ts'

const EVIL = `"><script>alert(1)</script><img src=x onerror='alert(2)'>\u202e`
const noFilter = { q: '', group: '', state: '', show: '', page: 1 }

function overview(facts: Facts, language: 'en' | 'zh-CN' = 'en'): string {
  const view = makeView(facts, language)
  return overviewPage(view, verdictSection(view, judge(facts))).toString()
}

/** Every text that a stranger may have put in. */
function hostileFacts(): Facts {
  return makeFacts({
    channels: [makeChannel({ channelId: '9', name: EVIL, label: EVIL, group: EVIL })],
    units: [...makeFacts().units, makeUnit({ stream: EVIL })],
    open: [makeReading({ reason: EVIL, partition: `channel=9/question=${EVIL}`, channelId: '9' })],
    runs: [
      makeRun({
        command: EVIL,
        status: 'running',
        progress: { [EVIL]: progress },
        streams: [{ stream: EVIL, counts: counts(), slices: { failed: 1 } }],
        errorCount: 1,
      }),
    ],
    quarantine: { reasons: [{ stream: EVIL, reason: EVIL, items: 3, lastSeenAt: new Date(NOW_MS) }], isMore: true },
    jobs: [
      {
        name: EVIL,
        cron: EVIL,
        timeZone: 'UTC',
        streams: [],
        channels: 'all',
        next: new Date(NOW_MS),
        isRunning: false,
        last: undefined,
      },
    ],
    timeZone: 'UTC',
  })
}

const progress = { rows: 5, parts: 4, endedParts: 1, share: 0.25 }

function counts() {
  const none = { extracted: 0, inserted: 0, updated: 0, unchanged: 0, removed: 0 }
  return { ...none, quarantined: 0, degraded: 0, calls: 0, retries: 0 }
}

describe('whatever strangers call themselves', () => {
  const facts = hostileFacts()
  const view = makeView(facts)
  const at = new Date(NOW_MS)
  const slice = { stream: EVIL, partition: EVIL, window: undefined, proof: EVIL, rows: 1, calls: 1 }
  const details = {
    errors: [{ stream: EVIL, partition: EVIL, code: EVIL, message: EVIL }],
    asked: { [EVIL]: EVIL },
    slices: [{ ...slice, startedAt: at, finishedAt: at }],
    alerts: [{ cause: { kind: 'channelGone', channel: EVIL } as const, raisedAt: at, clearedAt: null }],
    held: [{ name: EVIL, holder: EVIL, since: at }],
    page: 1,
    hasMore: true,
  }
  const item = { stream: EVIL, partition: EVIL, reason: EVIL, path: EVIL, raw: EVIL, lastSeenAt: at }
  const runs = { runs: facts.runs, hasMore: true, commands: [EVIL] }
  test.each([
    ['the overview', overview(facts)],
    ['the list of channels', channelsPage(view, { ...noFilter, q: '', group: EVIL }).toString()],
    ['a search for it', channelsPage(view, { ...noFilter, q: EVIL, state: EVIL, show: EVIL }).toString()],
    ['the channel', channelPage(view, facts.channels[0] ?? makeChannel(), facts).toString()],
    ['the run', runPage(view, facts.runs[0] ?? makeRun(), details).toString()],
    ['the runs', runsPage(view, { command: EVIL, status: EVIL, page: 2 }, runs, EVIL).toString()],
    ['the quarantine', quarantinePage(view, { stream: EVIL, page: 2 }, { items: [item], hasMore: true }).toString()],
  ])('%s shows it as text', (_, markup) => {
    expect(markup).not.toMatch(/<script|<img/)
    expect(markup.replaceAll(/<[^>]*>/g, '')).not.toContain('\u202e')
    expect(markup).toContain('&lt;script&gt;alert(1)')
  })
})

describe('without JavaScript', () => {
  const page = overview(makeFacts())

  test('all numbers are there in tables with captions and headings', () => {
    const tables = page.match(/<table.*?<\/table>/gs) ?? []
    expect(tables.length).toBeGreaterThanOrEqual(5)
    for (const table of tables) {
      expect(table).toContain('<caption')
      expect(table).toMatch(/<th scope="col"/)
      expect(table).toMatch(/<th scope="row"/)
    }
    // Rows written, calls made once, repeated ones.
    for (const value of ['123', '38', '2']) expect(page).toMatch(new RegExp(`data-value="${value}"`))
  })
})

describe('with a thousand channels', () => {
  const channels = Array.from({ length: 1000 }, (_, index) =>
    makeChannel({ channelId: `${index + 1}`, name: `频道 ${index + 1}`, group: index % 2 ? '甲' : '乙' }),
  )
  const units = channels.flatMap(({ channelId }) =>
    makeFacts().units.map((unit) => ({ ...unit, channelId, gaps: channelId === '777' && unit.isWindowed ? 1 : 0 })),
  )
  const facts = makeFacts({ channels, units, open: [makeReading({ kind: 'gap', channelId: '777' })] })
  const list = (filter: Partial<typeof noFilter>) =>
    channelsPage(makeView(facts), { ...noFilter, ...filter }).toString()
  const shown = (markup: string) => [...markup.matchAll(/href="\/channels\/(\d+)"/g)].map(([, id]) => id)

  test('the overview adds them up, and stays small', () => {
    const page = overview(facts)
    expect(page.length).toBeLessThan(90_000)
    expect(page).toContain('1,000 verified')
    expect(page).toContain('Watch records, Gifts: gaps in 1 of 1,000 channels')
  })

  test('the list comes fifty at a time, those with open points first', () => {
    const first = list({})
    expect(first.length).toBeLessThan(120_000)
    expect(shown(first)).toHaveLength(50)
    expect(shown(first).slice(0, 3)).toEqual(['777', '1', '2'])
    expect(first).toContain('Page 1')
    expect(shown(list({ page: 20 })).at(-1)).toBe('1000')
    expect(shown(list({ page: 99 })).at(-1)).toBe('1000')
    expect(shown(list({ page: -3 }))[0]).toBe('777')
  })

  test('it can be searched and filtered, and keeps that from page to page', () => {
    expect(shown(list({ q: '频道 77' }))).toHaveLength(11)
    expect(shown(list({ show: 'open' }))).toEqual(['777'])
    expect(list({ group: '甲' })).toContain('500 of 1,000 channels')
    expect(list({ group: '甲' })).toContain('href="/channels?group=%E7%94%B2&amp;page=2"')
    expect(list({ q: 'nobody' })).toContain('No channel matches.')
  })
})
