import type { Import, SourceFacts } from './read-source.ts'
import * as rules from './rules.ts'

const MOST_LINES = 250
/** Applies to `src` only. */
const MOST_COLUMNS = 120
/** Smaller files need several importers, unless they are plug-ins. */
const LEAST_LINES = 25
const plugIns = ['src/streams/', 'src/bi/views/', 'src/cli/']

/** Finds every breach of the rules, one sentence each. Paths are from the root of the project. */
export function breachesOf(files: readonly SourceFacts[]): string[] {
  return files.flatMap((file) =>
    [
      ...file.imports.flatMap((each) => importBreaches(file.path, each)),
      ...habitBreaches(file),
      ...streamBreaches(file),
      ...tableBreaches(file),
      ...smallFileBreaches(file, files),
      ...nameBreaches(file.path),
      ...(file.lines > MOST_LINES ? [`has ${file.lines} lines, more than ${MOST_LINES}`] : []),
      ...(file.path.startsWith('src/') && file.columns > MOST_COLUMNS
        ? [`has a line of ${file.columns} columns, more than ${MOST_COLUMNS}`]
        : []),
    ].map((breach) => `${file.path} ${breach}`),
  )
}

function importBreaches(path: string, each: Import): string[] {
  const [top = ''] = path.split('/')
  const breach = [`may not import ${each.target}`]
  if (top === 'migrations') return each.target === 'kysely' ? [] : breach
  if (top === 'jobs') return each.target === 'livehouse' || (each.isRelative && each.isTypeOnly) ? [] : breach
  if (top !== 'src') return []
  const place = placeOf(path)
  const mayImport = rules.folders[place]
  if (!mayImport) return [`is in ${place}, which the table of folders does not know`]
  if (each.isRelative) {
    const target = placeOf(each.target)
    if (!each.target.startsWith('src/')) return breach
    const isAllowed = target === place || waysOf(target, each).some((way) => mayImport.includes(way))
    return isAllowed || `${path} → ${target}` in rules.exceptions ? [] : breach
  }
  if (each.target.startsWith('node:'))
    return rules.pureFolders.includes(place) && !covers(rules.pureModules[each.target] ?? [], path) ? breach : []
  const importers = waysOf(packageOf(each.target), each).flatMap((way) => rules.packages[way] ?? [])
  return importers.some((entry) => covers([`src/${entry}`], path)) ? [] : breach
}

/** The entries that allow an import. An entry without `type` allows types too. */
function waysOf(target: string, { isTypeOnly }: Import): readonly string[] {
  return isTypeOnly ? [target, `type ${target}`] : [target]
}

/** `api` for `src/service/http.ts`, `main.ts` for `src/main.ts`. */
const placeOf = (path: string): string => path.split('/')[1] ?? path

const packageOf = (specifier: string): string => /^(@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? ''

/** Whether a path is among the entries, or in a folder that is: `src/service/` or `src/service`. */
function covers(entries: readonly string[], path: string): boolean {
  return entries.some((entry) => entry === path || path.startsWith(entry.endsWith('/') ? entry : `${entry}/`))
}

function habitBreaches({ path, habits }: SourceFacts): string[] {
  return [...habits].flatMap((habit) => (covers(rules.habits[habit], path) ? [] : [`has a ${habit}`]))
}

/** Finds texts that are a name, or contain one that is not a plain word (`watch_records`, `livehouse.gifts`). */
function streamBreaches({ path, texts }: SourceFacts): string[] {
  if (!path.startsWith('src/') || covers(rules.streamPaths, path)) return []
  const names = rules.streamNames.filter((name) => {
    const inside = new RegExp(`\\b${/^[a-z]+$/.test(name) ? `livehouse\\.${name}` : name}\\b`)
    return texts.some((text) => text === name || inside.test(text))
  })
  const unknown = names.filter((name) => !rules.leaks[path]?.includes(name))
  return unknown.length === 0 ? [] : [`names a stream: ${unknown.join(', ')}`]
}

/** Views, which anyone may read, have no owner. */
function tableBreaches({ path, tables }: SourceFacts): string[] {
  if (!path.startsWith('src/')) return []
  const readers = Object.entries(rules.otherReaders).filter(([reader]) => covers([reader], path))
  return Object.entries(rules.owners).flatMap(([owner, owned]) => {
    const named = covers([owner], path) ? [] : owned.filter((table) => tables.has(table))
    const foreign = named.filter((table) => !readers.some(([, known]) => known === 'all' || known.includes(table)))
    return foreign.map((table) => `names the table ${table} of ${owner}`)
  })
}

function smallFileBreaches({ path, lines }: SourceFacts, files: readonly SourceFacts[]): string[] {
  if (!path.startsWith('src/') || lines >= LEAST_LINES || covers(plugIns, path)) return []
  const isImporter = (file: SourceFacts) =>
    file.path.startsWith('src/') && file.imports.some(({ target }) => target === path)
  const [importer, ...others] = files.filter(isImporter)
  if (importer === undefined || others.length > 0) return []
  return [`has ${lines} lines and one importer: fold it into ${importer.path}`]
}

function nameBreaches(path: string): string[] {
  const file = path.split('/').at(-1) ?? ''
  if (file === 'index.ts') return ['is a barrel: no index.ts']
  return /^[a-z0-9]+(-[a-z0-9]+)*(\.d|(\.conformance)?\.test)?\.ts$/.test(file) ? [] : ['is not named in kebab-case']
}
