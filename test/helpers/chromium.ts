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

/** Only a hang takes this long. */
const LONGEST_START_MS = 600_000

/** The path of a Chromium: `CHROMIUM_PATH`, or one of the usual places; undefined if there is none. */
export const chromiumPath = process.env.CHROMIUM_PATH ?? places.find((path) => existsSync(path))

/** Starts Chromium without windows. Its sandbox does not work for root. */
export async function launchChromium(): Promise<Browser> {
  return await chromium.launch({
    timeout: LONGEST_START_MS,
    ...(chromiumPath && { executablePath: chromiumPath }),
    args: isRoot ? ['--no-sandbox'] : [],
  })
}

/** Opens a page of a server, and collects errors, dialogs and requests to other servers as `complaints`. */
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
  // Pages then refresh themselves only when a test moves the clock.
  await page.clock.install()
  await goTo(path)
  return { page, complaints, goTo, [Symbol.asyncDispose]: () => context.close() }
}
