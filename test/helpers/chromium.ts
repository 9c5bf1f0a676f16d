import { existsSync } from 'node:fs'
import { type Browser, type BrowserContextOptions, chromium } from 'playwright-core'
import { isRoot } from './operating-system.ts'

const places = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/snap/bin/chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
]

/** Only there to end a hang. */
const LONGEST_START_MS = 600_000

/** Where a Chromium is, by `CHROMIUM_PATH` or in one of the usual places; undefined where there is none. */
export const chromiumPath = process.env.CHROMIUM_PATH ?? places.find((path) => existsSync(path))

/** Starts it, without windows. It refuses its sandbox to root. */
export async function launchChromium(): Promise<Browser> {
  return await chromium.launch({
    timeout: LONGEST_START_MS,
    ...(chromiumPath && { executablePath: chromiumPath }),
    args: isRoot ? ['--no-sandbox'] : [],
  })
}

/** Opens a page of a server, goes on from there to others, and gathers what the browser complains of. */
export async function openPage(browser: Browser, url: string, path: string, options: BrowserContextOptions) {
  const context = await browser.newContext(options)
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('console', (message) => void (message.type() === 'error' && complaints.push(message.text())))
  page.on('pageerror', (error) => void complaints.push(String(error)))
  page.on('dialog', (dialog) => {
    complaints.push(dialog.message())
    void dialog.dismiss()
  })
  page.on('request', (request) => void (request.url().startsWith(url) || complaints.push(request.url())))
  const goTo = async (next: string) => await page.goto(url + next)
  // So that a page renews itself when a test says so.
  await page.clock.install()
  await goTo(path)
  return { page, complaints, goTo, [Symbol.asyncDispose]: () => context.close() }
}
