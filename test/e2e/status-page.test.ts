import axe from 'axe-core'
import { sql } from 'kysely'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import type { OperatorActions } from '../../src/app/operator-actions.ts'
import { systemClock } from '../../src/core/clock.ts'
import { Leases } from '../../src/ledger/leases/leases.ts'
import { quarantineItems } from '../../src/ledger/quarantine/quarantine.ts'
import { finishRun, openRun, saveProgress, startRun } from '../../src/ledger/runs/runs.ts'
import { claimSource } from '../../src/ledger/source.ts'
import { streams } from '../../src/streams/registry.ts'
import { chromiumPath, launchChromium, openPage } from '../helpers/chromium.ts'
import { ofFile } from '../helpers/of-file.ts'
import { startPipeline } from '../helpers/start-pipeline.ts'
import { startTestStatusServer } from '../helpers/status-server.ts'
import { TIME_ZONE } from '../helpers/sync-streams.ts'

const EVIL = `${'word'.repeat(8)}<img src=x onerror="window.broken=1"><script>window.broken=1</script>"'>`

if (chromiumPath === undefined) {
  process.stdout.write('no Chromium: the tests of the status page in a browser are skipped (CHROMIUM_PATH names one)\n')
}

describe.skipIf(chromiumPath === undefined)('the status page in a browser', () => {
  const browser = ofFile(launchChromium)
  const pipeline = ofFile(async () => {
    const started = await startPipeline()
    const { db } = started.database
    await claimSource(db, { baseUrl: 'http://a', appId: null, timeZone: TIME_ZONE })
    await started.sync()
    // The test pipeline does not record the end of its runs.
    await sql`update livehouse_ops.runs set status = 'ok', finished_at = started_at`.execute(db)
    const [first] = started.emulator.channelIds
    await sql`delete from livehouse_ops.slices where partition = ${`channel=${first}`}`.execute(db)
    await sql`update livehouse.channels set name = ${EVIL}, label = ${EVIL}, channel_group = ${EVIL + 'G'.repeat(150)}
      where channel_id = ${first}`.execute(db)
    const at = new Date(started.clock.nowMs)
    const runId = await startRun(db, { command: EVIL, settings: {}, startedAt: at })
    const counts = { extracted: 90, inserted: 60, updated: 30, unchanged: 0, calls: 9, retries: 2 }
    const errors = [{ stream: 'gifts', partition: EVIL, code: 'api.status', message: EVIL }]
    const outcome = { streams: { gifts: { ...counts, slices: { verified: 2 } } }, errors }
    await finishRun(db, runId, { status: 'partial', finishedAt: at, resumesAt: null, outcome })
    return started
  })
  const status = ofFile(async () => {
    const clock = { now: () => pipeline.clock.nowMs, sleep: systemClock.sleep }
    return await startTestStatusServer(pipeline.database, { clock })
  })

  const open = async (path: string, options: BrowserContextOptions = {}, { server } = status) =>
    await openPage(browser, server.url, path, options)

  const allPaths = () => {
    const one = `/channels/${pipeline.emulator.channelIds[0]}`
    return ['/', '/channels', one, '/runs', '/runs/1', '/runs/2', '/quarantine']
  }

  const overflow = async (page: Page) =>
    await page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth')

  /** A page renews itself within a minute. */
  const renew = async (page: Page, laterMs = 120_000) => {
    pipeline.clock.nowMs += laterMs
    await page.clock.fastForward(60_000)
  }

  test('charts are drawn from their tables, under the strict policy and from this server alone', async () => {
    await using opened = await open('/')
    const { page, complaints } = opened
    await page.locator('#chart-rows canvas').waitFor()
    expect(await page.locator('#chart-calls canvas').count()).toBe(1)
    const isDrawn = `(() => { const c = document.querySelector('#chart-rows canvas'); return c.getContext('2d').getImageData(0, 0, c.width, c.height).data.some((byte) => byte !== 0) })()`
    expect(await page.evaluate(isDrawn)).toBe(true)
    expect(complaints).toEqual([])
  })

  test('untrusted names stay text on every page', async () => {
    await using opened = await open('/')
    const { page, complaints, goTo } = opened
    for (const path of [...allPaths(), `/channels?q=${encodeURIComponent(EVIL)}`]) {
      await goTo(path)
      expect(await page.evaluate('window.broken'), path).toBeUndefined()
      expect(await page.locator('main img, main script').count(), path).toBe(0)
      expect(complaints, path).toEqual([])
      expect(await overflow(page), path).toBe(0)
    }
    await goTo('/channels')
    expect(await page.locator('main').innerText()).toContain('<script>window.broken=1</script>')
  })

  test('targets are large enough for a finger, and the keyboard reaches days, sections and actions', async () => {
    const requested: string[] = []
    const actions: OperatorActions = {
      runJob: async (job) => (requested.push(job), 'queued'),
      cancelRun: async () => true,
      retryQuarantine: async () => null,
      reopen: async ({ channels = [] }) => (requested.push(...channels), null),
    }
    const job = { name: 'nightly', cron: '15 2 * * *', timeZone: TIME_ZONE, streams: [], channels: 'all' } as const
    const readJobs = async () => [{ ...job, next: undefined, last: undefined }]
    const token = 'open-sesame-open-sesame'
    await using guarded = await startTestStatusServer(pipeline.database, { token, actions, readJobs })
    const [first = ''] = pipeline.emulator.channelIds
    const options = { viewport: { width: 360, height: 740 }, extraHTTPHeaders: { authorization: `Bearer ${token}` } }
    const tabTo = async (page: Page, selector: string) => {
      const isThere = `document.activeElement.matches(${JSON.stringify(selector)})`
      for (let tabs = 0; tabs < 300 && !(await page.evaluate(isThere)); tabs++) await page.keyboard.press('Tab')
    }
    await using opened = await open('/', options, guarded)
    const { page, complaints } = opened
    const small = `[...document.querySelectorAll('a, button, summary, input:not([type=hidden]), .bar')].filter((each) => {
      const { width, height } = each.getBoundingClientRect()
      return !each.matches('.skip') && width > 0 && Math.min(width, height) < 23.9 }).map((each) => each.outerHTML)`
    expect(await page.evaluate(small)).toEqual([])
    await tabTo(page, '.jumps a[href="#jobs"]')
    await page.keyboard.press('Enter')
    await page.waitForURL(/#jobs$/)
    await page.goto(guarded.server.url)
    await tabTo(page, '.bar')
    expect(await page.locator('.bar:focus').getAttribute('aria-label')).toMatch(/ % read, /)
    await tabTo(page, '.action button')
    await page.keyboard.press('Enter')
    await page.getByText('nightly is queued').waitFor()
    await page.goto(`${guarded.server.url}/channels/${first}`)
    await page.evaluate('document.documentElement.style.fontSize = "200%"')
    expect(await overflow(page)).toBe(0)
    await tabTo(page, '.jumps a[href="#reopen"]')
    await page.keyboard.press('Enter')
    await page.waitForURL(/#reopen$/)
    await tabTo(page, '.action select')
    await tabTo(page, '[name=from]')
    await page.keyboard.type('11012026')
    await tabTo(page, '[name=to]')
    await page.keyboard.type('11022026')
    await tabTo(page, '.action button')
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/runs$/)
    expect(requested).toEqual(['nightly', first])
    expect(complaints).toEqual([])
  })

  test('the page can be read without JavaScript', async () => {
    await using opened = await open('/', { javaScriptEnabled: false })
    const { page } = opened
    await page.locator('#chart-rows summary').click()
    expect(await page.locator('#chart-rows table').isVisible()).toBe(true)
    expect(await page.locator('#streams tbody tr').count()).toBe(streams.length)
    expect(await page.locator('#coverage .days').nth(1).innerText()).toContain('until')
  })

  test('the keyboard reaches the content first, and then the search', async () => {
    await using opened = await open('/channels')
    const { page } = opened
    await page.keyboard.press('Tab')
    expect(await page.locator(':focus').getAttribute('class')).toBe('skip')
    await page.keyboard.press('Enter')
    expect(await page.locator(':focus').getAttribute('id')).toBe('main')
    await page.keyboard.press('Tab')
    expect(await page.locator(':focus').getAttribute('name')).toBe('q')
    await page.keyboard.type(pipeline.emulator.channelIds[1] ?? '')
    await page.keyboard.press('Enter')
    await page.waitForURL(/q=/)
    expect(await page.locator('#channels tbody tr').count()).toBe(1)
  })

  // Every page in each language at one width and scheme; the first page also at another width in the other scheme.
  test.each([
    ['en', [390, 'light'], [768, 'dark']],
    ['zh-CN', [1280, 'dark'], [1920, 'light']],
  ] as const)('axe finds nothing, and large text overflows no page: %s, %j, %j', async (locale, first, second) => {
    const runAxe = `${axe.source}; axe.run({ resultTypes: ['violations'], rules: { 'target-size': { enabled: true } } })
      .then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html)))`
    // In rising order: a chart that has to shrink overflows until it is drawn again.
    const widths = [...new Set([360, 768, first[0], second[0]])].toSorted((a, b) => a - b)
    await using opened = await open('/', { locale, bypassCSP: true, reducedMotion: 'reduce' })
    const { page, goTo } = opened
    for (const path of [...allPaths(), '/none']) {
      for (const width of widths) {
        const [, colorScheme] = width === first[0] ? first : second
        await page.setViewportSize({ width, height: 900 })
        await page.emulateMedia({ colorScheme })
        if (width === 360) await goTo(path)
        const isRead = width === first[0] || (width === second[0] && path === '/')
        const violations = isRead ? await page.evaluate(runAxe) : []
        expect([path, width, violations, await overflow(page)]).toEqual([path, width, [], 0])
        if (width !== 360 && width !== 768) continue
        await page.evaluate('document.documentElement.style.fontSize = "200%"')
        expect([path, width, await overflow(page)]).toEqual([path, width, 0])
        await page.evaluate('document.documentElement.style.fontSize = ""')
      }
      expect(await page.locator('html').getAttribute('lang')).toBe(locale)
    }
  })

  test('quarantined rows start closed, an opened one stays open, and an outage shows while it lasts', async () => {
    const { db } = pipeline.database
    const at = { stream: 'visitors', partition: 'channel=9', runId: '1', timeZone: TIME_ZONE, asked: undefined }
    const items = ['1', '2'].map((raw) => ({ raw, reason: 'user_id is null', path: '', headers: null }))
    await quarantineItems(db, { ...at, seenAt: new Date(pipeline.clock.nowMs - 90_000) }, items)
    await using opened = await open('/quarantine')
    const { page } = opened
    const isOpen = `[...document.querySelectorAll('#quarantine details')].map((each) => each.open)`
    expect(await page.evaluate(isOpen)).toEqual([false, false])
    await page.locator('#quarantine summary').nth(1).click()
    await page.evaluate('document.activeElement.blur()')
    await renew(page)
    await page.getByText('3 minutes ago').first().waitFor()
    expect(await page.evaluate(isOpen)).toEqual([false, true])
    await sql`alter table livehouse_ops.quarantine rename to lost`.execute(db)
    await renew(page)
    await page.getByText('The database cannot be read').waitFor()
    await using late = await open('/quarantine')
    await sql`alter table livehouse_ops.lost rename to quarantine; delete from livehouse_ops.quarantine`.execute(db)
    await renew(page)
    await page.locator('#verdict').waitFor({ state: 'detached' })
    await renew(late.page)
    await late.page.locator('#quarantine').waitFor({ state: 'attached' })
    for (const isOffline of [true, false]) {
      await page.context().setOffline(isOffline)
      await renew(page)
      await page.locator('#silent').waitFor({ state: isOffline ? 'visible' : 'hidden' })
    }
  })

  test('a run shows its progress, and its end updates the page without a reload', async () => {
    await using opened = await open('/')
    const { page, complaints } = opened
    await page.evaluate('window.isTheSame = true')
    await using leases = new Leases(pipeline.database.db)
    const startedAt = new Date(pipeline.clock.nowMs - 60_000)
    const runId = await openRun(pipeline.database.db, { command: 'night 42', settings: {}, startedAt }, leases)
    await saveProgress(pipeline.database.db, runId, { visitors: { rows: 200, parts: 4, endedParts: 1, share: 0.25 } })
    await renew(page, 600_000)
    await page.getByText('1 of 4 parts · 200 rows · about 33 minutes left').waitFor()
    expect(await page.locator('progress').getAttribute('value')).toBe('25')
    const finishedAt = new Date(pipeline.clock.nowMs)
    await finishRun(pipeline.database.db, runId, { status: 'ok', finishedAt, resumesAt: null, outcome: {} })
    await renew(page, 600_000)
    await page.locator('#progress').waitFor({ state: 'hidden' })
    await page.getByText('night 42').waitFor()
    expect(await page.evaluate('window.isTheSame')).toBe(true)
    expect(complaints).toEqual([])
  })
})
