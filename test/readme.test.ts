import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { commands } from '../src/cli/commands.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const english = readFileSync(`${root}/README.md`, 'utf8')
const chinese = readFileSync(`${root}/README.zh-CN.md`, 'utf8')
const pages = readdirSync(`${root}/docs`).filter((name) => name.endsWith('.md'))
const docs = ['README.md', 'README.zh-CN.md', 'CONTRIBUTING.md', ...pages.map((name) => `docs/${name}`)]

/** What does not depend on the language: headings by level, code without its comments, first cells of tables, links. */
function skeletonOf(text: string) {
  const blocks = [...text.matchAll(/^```\w*\n(.*?)^```/gms)].map(([, code = '']) => code)
  const prose = text.replaceAll(/^```.*?^```/gms, '')
  return {
    headings: [...prose.matchAll(/^(#+) /gm)].map(([, level]) => level),
    code: blocks.map((code) => code.split('\n').map((line) => line.replace(/\s*# .*/, ''))),
    cells: [...prose.matchAll(/^\| (`[^|]*|\d[^|]*) \|/gm)].map(([, cell = '']) =>
      cell.replaceAll(/[^\w`./@=]+/g, ' '),
    ),
    links: linksOf(prose).filter((link) => !link.startsWith('README')),
  }
}

function linksOf(text: string): readonly string[] {
  const links = [...text.matchAll(/\]\(([^)#]+)|src="([^"]+)"/g)].map(([, link, source]) => link ?? source ?? '')
  return links.filter((link) => !link.startsWith('http'))
}

test('both READMEs have the same headings, code, table cells and links', () => {
  const [one, other] = [english, chinese].map(skeletonOf)
  const withoutLanguage = (links: readonly string[] = []) => [
    ...new Set(links.map((link) => link.replace(/(-light|-dark)?\.(en|zh-CN)\./, '.'))),
  ]
  expect(one?.headings.length).toBeGreaterThan(5)
  expect(other?.headings).toEqual(one?.headings)
  expect(other?.code).toEqual(one?.code)
  expect(other?.cells.map(withoutText)).toEqual(one?.cells.map(withoutText))
  expect(withoutLanguage(other?.links).toSorted()).toEqual(withoutLanguage(one?.links).toSorted())
})

/** The names and numbers of a cell, without the words of its language. */
function withoutText(cell: string): string {
  return [...cell.matchAll(/`[^`]+`|\d+/g)].join(' ')
}

test.each(docs)('every file that %s links to exists', (file) => {
  const links = linksOf(readFileSync(`${root}/${file}`, 'utf8'))
  expect(links.filter((link) => !existsSync(join(root, dirname(file), link)))).toEqual([])
})

test.each(['README.md', 'README.zh-CN.md'])('%s names every command, and is short', (file) => {
  const text = file === 'README.md' ? english : chinese
  expect(Object.keys(commands).filter((name) => !new RegExp(`\`${name}[ \`]`).test(text))).toEqual([])
  expect(text.split('\n').length).toBeLessThanOrEqual(151)
})

test('every command and flag that the docs name exists', async () => {
  const texts = docs.map((name) => readFileSync(`${root}/${name}`, 'utf8'))
  const matches = texts.flatMap((text) => [...text.matchAll(/`(?:npx )?livehouse ([a-z][^`]*)`/g)])
  const lines = matches.map(([, line = '']) => line)
  expect(lines.length).toBeGreaterThan(50)
  const wrong: string[] = []
  for (const line of lines) {
    const [verb = '', ...words] = line.split(/\s+/)
    const help = (await commands[verb]?.[1]())?.help(verb)
    const flags = words.filter((word) => word.startsWith('--') && word !== '--').map((word) => word.replace(/=.*/, ''))
    if (help === undefined || flags.some((flag) => !help.includes(`${flag} `) && flag !== '--help')) wrong.push(line)
  }
  expect(wrong).toEqual([])
})

test('every test that docs/security.md names exists', () => {
  const rows = readFileSync(`${root}/docs/security.md`, 'utf8').match(/^\|.*\|$/gm) ?? []
  const names = rows.flatMap((row) => [...(row.split('|').at(-2) ?? '').matchAll(/`([^`]+)`/g)].map(([, name]) => name))
  expect(names.length).toBeGreaterThan(15)
  expect(names.filter((name) => !existsSync(`${root}/test/${name}.test.ts`))).toEqual([])
})

test('every decision that code, docs and other decisions name exists', () => {
  const files = readdirSync(`${root}/docs/adr`)
  const names = globSync('{bin,docs,scripts,src}/**/*.{cjs,md,mts,ts}', { cwd: root }).flatMap((path) => {
    const text = readFileSync(join(root, path), 'utf8').replace(/^Replaces [^.]*\./m, '')
    return text.match(path.includes('/adr/') ? /\b00\d\d\b/g : /(?<=\bADR |\badr\/)\d{4}[a-z-]*/g) ?? []
  })
  expect(names.length).toBeGreaterThan(50)
  expect(names.filter((name) => !files.some((file) => file.startsWith(name)))).toEqual([])
})
