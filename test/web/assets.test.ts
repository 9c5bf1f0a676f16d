import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readAssets } from '../../src/web/assets.ts'

const css = readFileSync(join(import.meta.dirname, '../../src/web/assets/page.css'), 'utf8')

test('everything that pages load is served, at a path that contains its hash; the style loads nothing else', async () => {
  const { byPath, paths } = await readAssets()
  expect([...byPath.keys()].toSorted()).toEqual(Object.values(paths).toSorted())
  for (const path of byPath.keys()) expect(path).toMatch(/^\/assets\/[0-9a-f]{12}-\w+\.(css|js|svg)$/)
  expect(byPath.get(paths.chart)?.body.toString()).toContain('Chart.js')
  expect(css).not.toMatch(/@import|url\((?!#)/)
})

function scheme(name: 'light' | 'dark'): ReadonlyMap<string, string> {
  const pairs = css.matchAll(/--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)/g)
  return new Map([...pairs].map(([, key = '', light = '', dark = '']) => [key, name === 'light' ? light : dark]))
}

/** WCAG 2, relative luminance. */
function luminance(hex: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((start) => {
    const part = Number.parseInt(hex.slice(start, start + 2), 16) / 255
    return part <= 0.039_28 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}

function contrast(a: string, b: string): number {
  const [dark = 0, light = 0] = [luminance(a), luminance(b)].toSorted((x, y) => x - y)
  return (light + 0.05) / (dark + 0.05)
}

const grounds = ['ground', 'surface', 'good-ground', 'bad-ground', 'busy-ground', 'calm-ground']
const texts = ['ink', 'muted', 'accent', 'good', 'warn', 'bad']

test.each(['light', 'dark'] as const)('text and signs have enough contrast on every ground, %s scheme', (name) => {
  const colors = scheme(name)
  const color = (key: string) => colors.get(key) ?? '#000000'
  expect(colors.size).toBeGreaterThan(15)
  for (const text of texts) {
    for (const ground of grounds)
      expect(contrast(color(text), color(ground)), `${text} on ${ground}`).toBeGreaterThanOrEqual(4.5)
  }
  expect(contrast(color('surface'), color('accent')), 'button').toBeGreaterThanOrEqual(4.5)
  // Bars differ by pattern; their colours stand out from the days that are not read (WCAG 2, 1.4.11).
  for (const bar of ['bad', 'warn']) expect(contrast(color(bar), color('day-ground')), bar).toBeGreaterThanOrEqual(3)
})
