import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'
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
