import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { cutText, html, isolate, maskValues } from '../../src/web/html.ts'

const folder = join(import.meta.dirname, '../../src/web')

test('all text is escaped; outside text is isolated, shortened and stripped of bidirectional controls', () => {
  const evil = `<img src=x onerror="alert(1)">&'`
  expect(html`<p title="${evil}">${evil}</p>`.toString()).toBe(
    '<p title="&lt;img src=x onerror=&quot;alert(1)&quot;&gt;&amp;&#39;">&lt;img src=x onerror=&quot;alert(1)&quot;&gt;&amp;&#39;</p>',
  )
  expect(isolate('\u202Egnp.exe<').toString()).toBe('<bdi>gnp.exe&lt;</bdi>')
  expect(cutText('x'.repeat(500), 120).length).toBe(120)
  expect(cutText('😀'.repeat(10), 6)).toBe('😀😀…')
})

// Escaping protects inside quotes only.
test('no template has a value in an attribute without quotes', () => {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))
  expect(files.length).toBeGreaterThan(20)
  for (const file of files) {
    const text = readFileSync(join(folder, file), 'utf8')
    const templates = text.match(/html`(?:[^`\\]|\\.)*`/gs) ?? []
    for (const template of templates) expect(template, file).not.toMatch(/<[^>]*\s[\w-]+=\$\{/)
    expect(text, file).not.toMatch(/innerHTML|style="/)
  }
})

test.each([
  ['record_id is "张\\"三", not a number', 'record_id is …, not a number'],
  // Cut in the middle of a value.
  ['the item is {"nick":"张三","phone":"1381…, not an object', 'the item is {…:…,…:…'],
  ['id is 13812345678', 'id is …'],
  ['saveMenu channel 10001589: 500 (code 500001 "no 13812345678")', 'saveMenu channel 10001589: 500 (code 500001 …)'],
  ['channel=10001589/type=cash: 90 of 100 rows came', 'channel=10001589/type=cash: 90 of 100 rows came'],
])('values are masked in %s', (message, masked) => {
  expect(maskValues(message)).toBe(masked)
})
