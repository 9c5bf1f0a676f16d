import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { budgets, MOST_LINES, MOST_RAW_SQL } from './helpers/architecture/budgets.ts'
import { breachesOf } from './helpers/architecture/check.ts'
import { readSource } from './helpers/architecture/read-source.ts'
import { owners } from './helpers/architecture/rules.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

const tree = ['src', 'migrations', 'jobs', 'test'].flatMap((folder) =>
  filesOf(folder).map((path) => readSource(path, readFileSync(join(root, path), 'utf8'))),
)

function filesOf(folder: string): string[] {
  const entries = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
  return entries.filter((entry) => entry.endsWith('.ts')).map((entry) => `${folder}/${entry.replaceAll('\\', '/')}`)
}

test('the tree keeps the rules', () => {
  expect(tree.length).toBeGreaterThan(50)
  expect(breachesOf(tree)).toEqual([])
  const typed = tree.flatMap(({ path, tables }) => (path.startsWith('src/store/tables/') ? [...tables] : []))
  const views = typed.filter((table) => !Object.values(owners).flat().includes(table))
  expect(views).toEqual(['latest_readings', 'open_readings'])
})

test('no folder exceeds its budget of lines', () => {
  const lines = new Map<string, number>()
  for (const { path, lines: count } of tree) {
    const [top = '', folder = '', file] = path.split('/')
    const names = top === 'src' ? [top, `src/${file === undefined ? '' : folder}`] : [top]
    for (const name of names) lines.set(name, (lines.get(name) ?? 0) + count)
  }
  const ofFolders = Object.entries(budgets).map(([name, limit]) => [`src/${name}`, limit] as const)
  const over = [...Object.entries(MOST_LINES), ...ofFolders].filter(([name, limit]) => (lines.get(name) ?? 0) > limit)
  expect(over.map(([name, limit]) => `${name} has ${lines.get(name)} lines, more than ${limit}`)).toEqual([])
  expect(new Set(Object.keys(budgets))).toEqual(
    new Set([...lines.keys()].flatMap((name) => (name.startsWith('src/') ? [name.slice(4)] : []))),
  )
})

test('SQL is written with the builder, and takes no advisory lock, which any login of the database could hold', () => {
  const paths = filesOf('src').filter((path) => !/^src\/(bi|store\/load)\//.test(path))
  const text = paths.map((path) => readFileSync(join(root, path), 'utf8')).join('\n')
  const raw = /(?<!migrate )\bsql(<[^`]*?>)?`|\bsql\.raw[<(]|\.query(<.*>)?\(/g
  expect(text.match(raw)?.length).toBeLessThanOrEqual(MOST_RAW_SQL)
  expect(text).not.toMatch(/pg_(try_)?advisory/)
})

describe('every rule finds its breach', () => {
  test.each([
    ['src/core/a.ts', "import { b } from '../service/b.ts'", 'may not import src/service/b.ts'],
    ['src/core/a.ts', "import { readFileSync } from 'node:fs'", 'may not import node:fs'],
    ['src/service/a.ts', "const b = await import('../store/b.ts')", 'may not import src/store/b.ts'],
    ['src/service/a.ts', "import { request } from 'undici'", 'may not import undici'],
    ['src/sync/a.ts', "import { sql } from 'kysely'", 'may not import kysely'],
    ['src/cli/a.ts', "import { main } from '../main.ts'", 'may not import src/main.ts'],
    ['src/cli/a.ts', "import { b } from '../ledger/b.ts'", 'may not import src/ledger/b.ts'],
    ['src/cli/a.ts', "import { a } from 'left-pad'", 'may not import left-pad'],
    ['src/cli/a.ts', 'const a = await import(name)', 'has a computed import'],
    ['src/queue/a.ts', "import '../core/b.ts'", 'is in queue, which the table of folders does not know'],
    ['migrations/0001-a.ts', "import { b } from '../src/core/b.ts'", 'may not import src/core/b.ts'],
    ['jobs/nightly.ts', "import { b } from '../src/core/b.ts'", 'may not import src/core/b.ts'],
    ['src/service/a.ts', "export * from './b.ts'", 'has a re-export'],
    ['src/service/index.ts', '', 'is a barrel: no index.ts'],
    ['src/service/myFile.ts', '', 'is not named in kebab-case'],
    ['src/main.ts', 'const a = process.env.A', 'has a process.env'],
    ['src/main.ts', "import { env } from 'node:process'", 'has a process.env'],
    ['src/service/a.ts', 'const a = Date.now()', 'has a time'],
    ['src/service/a.ts', 'const a = new Date()', 'has a time'],
    ['src/service/a.ts', 'const a = performance.now()', 'has a time'],
    ['src/service/a.ts', 'setTimeout(f, 1)', 'has a time'],
    ['src/service/a.ts', "import { setTimeout } from 'node:timers/promises'", 'has a time'],
    ['test/e2e/a.test.ts', 'sql`select from pg_locks`', 'has a pg_locks'],
    ['src/service/a.ts', "const a = 'visitorList'", 'names a stream: visitorList'],
    ['src/service/a.ts', 'const a = `from livehouse.gifts`', 'names a stream: gifts'],
    ['src/sync/a.ts', "ops(db).selectFrom('runs')", 'names the table runs of src/ledger/runs/'],
    ['src/ledger/a.ts', "db.updateTable('livehouse_ops.slices as s')", 'names the table slices of src/ledger/slices/'],
    ['src/app/a.ts', 'sql`delete from livehouse_ops.jobs`', 'names the table jobs of src/ledger/jobs.ts'],
    ['src/cli/a.ts', "ops(db).selectFrom('x').leftJoin('jobs as j')", 'names the table jobs of src/ledger/jobs.ts'],
    ['src/service/a.ts', 'const a = 1\n'.repeat(251), 'has 251 lines, more than 250'],
    ['src/service/a.ts', `// ${'a'.repeat(118)}`, 'has a line of 121 columns, more than 120'],
  ])('%s: %s', (path, text, breach) => {
    expect(breachesOf([readSource(path, text)])).toEqual([`${path} ${breach}`])
  })

  test('a small file with one importer', () => {
    const files = ['core', 'bi/views'].map((folder) => readSource(`src/${folder}/a.ts`, ''))
    const importer = readSource('src/bi/b.ts', "import '../core/a.ts'\nimport './views/a.ts'\n".padEnd(99, '\n'))
    const [breach] = breachesOf([...files, importer])
    expect(breach).toBe('src/core/a.ts has 1 lines and one importer: fold it into src/bi/b.ts')
  })
})
