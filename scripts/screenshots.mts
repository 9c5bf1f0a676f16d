import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { sync } from '../src/cli/sync.ts'
import { systemClock } from '../src/core/clock.ts'
import { type Emulator, startEmulator } from '../src/emulator/server.ts'
import { locateHome } from '../src/store/embedded/home.ts'
import { startEmbedded, stopEmbedded } from '../src/store/embedded.ts'
import { openDatabase } from '../src/store/pool.ts'
import { chromiumPath, launchChromium } from '../test/helpers/chromium.ts'
import { createTestContext } from '../test/helpers/cli-context.ts'
import { fieldValue, missingRow, refusal } from '../test/helpers/fault-effects.ts'
import { startTestStatusServer, type TestStatusServer } from '../test/helpers/status-server.ts'
import { superuserUrl } from '../test/helpers/superuser-url.ts'

/**
 * `npm run screenshots` takes the pictures in docs/images with Chromium (CHROMIUM_PATH or one of the usual places).
 * They show twelve nights of a made-up account, one of them short, in an embedded PostgreSQL of their own.
 */

const NIGHTS = 12
const DAY_MS = 86_400_000
/** 02:15 in Shanghai on a fixed day. */
const LAST_NIGHT_MS = Date.UTC(2026, 10, 19, 18, 15)
/** The time in the pictures: 08:40. */
const MORNING_MS = Date.UTC(2026, 10, 20, 0, 40)
const folder = join(import.meta.dirname, '../docs/images')
const stop = new AbortController()
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort(new Error(name)))

/** A clock that advances by 2 ms each time it is read. */
const time = { nowMs: MORNING_MS }
const clock = {
  now: () => (time.nowMs += 2),
  sleep: async (ms: number) => void (time.nowMs += ms),
}

async function runNights(emulator: Emulator, url: string): Promise<void> {
  const [first = '', second = ''] = emulator.channelIds
  for (let ago = NIGHTS - 1; ago >= 0; ago--) {
    stop.signal.throwIfAborted()
    time.nowMs = LAST_NIGHT_MS - ago * DAY_MS
    emulator.faults.length = 0
    // No 429, because the pace uses the database's clock, which does not follow this one.
    emulator.faults.push({ effect: refusal(500_001), times: ago % 4 === 1 ? 6 : 1 })
    if (ago === 5) emulator.faults.push({ effect: missingRow(), endpoint: 'visitorList', channelId: first })
    if (ago === 0)
      emulator.faults.push({
        effect: fieldValue('user_id', null, 7),
        endpoint: 'visitorList',
        channelId: second,
        page: 1,
      })
    const environment = {
      LIVEHOUSE_BASE_URL: emulator.baseUrl,
      LIVEHOUSE_API_TOKEN: emulator.apiToken,
      LIVEHOUSE_CHANNELS: emulator.channelIds.join(','),
      LIVEHOUSE_MAX_CALLS_PER_SECOND: '0',
      DATABASE_URL: url,
    }
    await sync.run(createTestContext({ environment, clock, signal: stop.signal }).context, [])
  }
  time.nowMs = MORNING_MS
}

const nightly = {
  name: 'nightly',
  cron: '15 2 * * *',
  timeZone: 'Asia/Shanghai',
  streams: [],
  channels: 'all',
} as const
const weekly = {
  name: 'audit-weekly',
  cron: '30 4 * * 0',
  timeZone: 'Asia/Shanghai',
  streams: [],
  channels: 'all',
} as const

function serve(db: Parameters<typeof startTestStatusServer>[0]['db']): Promise<TestStatusServer> {
  const jobs = [
    { ...nightly, next: new Date(LAST_NIGHT_MS + DAY_MS), last: { startedAt: new Date(LAST_NIGHT_MS), status: 'ok' } },
    { ...weekly, next: new Date(Date.UTC(2026, 10, 21, 20, 30)), last: undefined },
  ] as const
  return startTestStatusServer({ db }, { clock: { ...clock, sleep: systemClock.sleep }, readJobs: async () => jobs })
}

interface Picture {
  readonly name: string
  readonly path: string
  readonly locale: 'en' | 'zh-CN'
  readonly colorScheme: 'light' | 'dark'
  readonly width: number
  readonly height: number
}

const wide = { width: 1100, height: 960, path: '/' } as const
const below = { ...wide, path: '/#coverage' }
const phone = { width: 390, height: 1130, path: '/' } as const
const pictures: readonly Picture[] = (['en', 'zh-CN'] as const).flatMap((locale) => [
  { ...wide, name: `status-light.${locale}`, locale, colorScheme: 'light' },
  { ...wide, name: `status-dark.${locale}`, locale, colorScheme: 'dark' },
  {
    ...below,
    name: `coverage-${locale === 'en' ? 'light' : 'dark'}.${locale}`,
    locale,
    colorScheme: locale === 'en' ? 'light' : 'dark',
  },
  { ...phone, name: `status-phone.${locale}`, locale, colorScheme: 'light' },
])

async function take(browser: Browser, url: string, { name, path, width, height, ...looks }: Picture): Promise<void> {
  const context = await browser.newContext({ ...looks, viewport: { width, height }, reducedMotion: 'reduce' })
  const page = await context.newPage()
  await page.goto(url + path)
  await page.locator('#chart-rows canvas').waitFor()
  await page.screenshot({ path: join(folder, `${name}.png`) })
  await context.close()
  process.stdout.write(`docs/images/${name}.png\n`)
}

if (chromiumPath === undefined) throw new Error('Chromium was not found: set CHROMIUM_PATH')
const dataDir = await mkdtemp(join(tmpdir(), 'livehouse-screenshots-'))
try {
  time.nowMs = MORNING_MS
  await using emulator = await startEmulator({ channels: 8, viewers: 600, days: 40, clock })
  const server = await startEmbedded(dataDir, systemClock, stop.signal)
  const url = await superuserUrl(server, dataDir)
  await runNights(emulator, url)
  await using db = await openDatabase(url, { signal: stop.signal })
  await using status = await serve(db)
  const browser = await launchChromium()
  try {
    for (const picture of pictures) await take(browser, status.server.url, picture)
  } finally {
    await browser.close()
  }
} finally {
  await stopEmbedded(dataDir, new AbortController().signal)
  const { place } = await locateHome(dataDir)
  for (const path of [place, dataDir]) await rm(path, { recursive: true, force: true })
}
