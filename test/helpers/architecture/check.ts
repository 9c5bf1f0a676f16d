import type { Habit, Import, SourceFacts } from './read-source.ts'

/** What a folder, or a file of the root, may import. */
interface FolderRule {
  /** Folders and root files of `src`, besides itself; `type store` where it may import types only. */
  readonly imports: readonly string[]
  /** Without input and output: of Node's own modules it may use those of `pureModules` only. */
  readonly isPure?: boolean
}

/** The rules of the tree. */
export interface Rules {
  /** By folder or root file of `src`, such as `api` or `main.ts`. */
  readonly folders: Readonly<Record<string, FolderRule>>
  /** `src/cli/a.ts → store`: what one file may import beyond its folder, with the reason. */
  readonly exceptions: Readonly<Record<string, string>>
  /** By package, or `type` and a package where it is for types only: the folders or files of `src` that may import it. */
  readonly packages: Readonly<Record<string, readonly string[]>>
  /** Node's modules that pure folders may use, with the paths that may. */
  readonly pureModules: Readonly<Record<string, readonly string[]>>
  /** By habit: paths that may have it; a folder ends with a slash. */
  readonly habits: Readonly<Record<Habit, readonly string[]>>
  /** Names of streams, their tables and endpoints, the paths that may have them, and by other file those that it has. */
  readonly streams: {
    readonly names: readonly string[]
    readonly allowed: readonly string[]
    readonly leaks: Readonly<Record<string, readonly string[]>>
  }
  /** By file or folder, the tables of `livehouse_ops` that it owns. */
  readonly owners: Readonly<Record<string, readonly string[]>>
  /** By file or folder, tables of others that it may name. */
  readonly otherReaders: Readonly<Record<string, readonly string[] | 'all'>>
  /** Files of fewer lines have several importers, but for plug-ins: paths or folders. */
  readonly smallFiles: { readonly minLines: number; readonly plugIns: readonly string[] }
  readonly maxLines: number
  /** Of files in `src`. */
  readonly maxColumns: number
}

/** Every breach of the rules, one sentence each. Paths are from the root of the project. */
export function breachesOf(files: readonly SourceFacts[], rules: Rules): string[] {
  const importersOf = importers(files)
  return files.flatMap((file) =>
    [
      ...file.imports.flatMap((each) => importBreaches(file.path, each, rules)),
      ...habitBreaches(file, rules),
      ...streamBreaches(file, rules),
      ...tableBreaches(file, rules),
      ...smallFileBreaches(file, importersOf.get(file.path) ?? [], rules),
      ...nameBreaches(file.path),
      ...(file.lines > rules.maxLines ? [`has ${file.lines} lines, more than ${rules.maxLines}`] : []),
      ...(file.path.startsWith('src/') && file.columns > rules.maxColumns
        ? [`has a line of ${file.columns} columns, more than ${rules.maxColumns}`]
        : []),
    ].map((breach) => `${file.path} ${breach}`),
  )
}

function importBreaches(path: string, each: Import, rules: Rules): string[] {
  const [top = ''] = path.split('/')
  const breach = [`may not import ${each.target}`]
  if (top === 'migrations') return each.target === 'kysely' ? [] : breach
  if (top === 'jobs') return each.target === 'livehouse' || (each.isRelative && each.isTypeOnly) ? [] : breach
  if (top !== 'src') return []
  const place = placeOf(path)
  const rule = rules.folders[place]
  if (!rule) return [`is in ${place}, which the table of folders does not know`]
  if (each.isRelative) {
    const target = placeOf(each.target)
    if (!each.target.startsWith('src/')) return breach
    const isAllowed = target === place || waysOf(target, each).some((way) => rule.imports.includes(way))
    return isAllowed || `${path} → ${target}` in rules.exceptions ? [] : breach
  }
  if (each.target.startsWith('node:')) {
    return rule.isPure && !covers(rules.pureModules[each.target] ?? [], path) ? breach : []
  }
  const importers = waysOf(packageOf(each.target), each).flatMap((way) => rules.packages[way] ?? [])
  return importers.some((entry) => covers([`src/${entry}`], path)) ? [] : breach
}

/** What a table may say to allow it: a type also comes where all else may. */
function waysOf(target: string, { isTypeOnly }: Import): readonly string[] {
  return isTypeOnly ? [target, `type ${target}`] : [target]
}

/** `api` for `src/service/http.ts`, `main.ts` for `src/main.ts`. */
const placeOf = (path: string): string => path.split('/')[1] ?? path

function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
}

/** Whether a path is among the entries, or in a folder that is: `src/service/` or `src/service`. */
function covers(entries: readonly string[], path: string): boolean {
  return entries.some((entry) => entry === path || path.startsWith(entry.endsWith('/') ? entry : `${entry}/`))
}

function habitBreaches({ path, habits }: SourceFacts, rules: Rules): string[] {
  return [...habits].flatMap((habit) => (covers(rules.habits[habit], path) ? [] : [`has a ${habit}`]))
}

/** A text that is a name, or has one that is no plain word (`watch_records`, `visitorList`, `livehouse.gifts`) in it. */
function streamBreaches({ path, texts }: SourceFacts, { streams }: Rules): string[] {
  if (!path.startsWith('src/') || covers(streams.allowed, path)) return []
  const found = streams.names.filter((name) => {
    const inside = new RegExp(`\\b${/^[a-z]+$/.test(name) ? `livehouse\\.${name}` : name}\\b`)
    return texts.some((text) => text === name || inside.test(text))
  })
  const unknown = found.filter((name) => !streams.leaks[path]?.includes(name))
  return unknown.length === 0 ? [] : [`names a stream: ${unknown.join(', ')}`]
}

/** Views, which anyone may read, have no owner. */
function tableBreaches({ path, tables }: SourceFacts, { owners, otherReaders }: Rules): string[] {
  if (!path.startsWith('src/')) return []
  const readers = Object.entries(otherReaders).filter(([reader]) => covers([reader], path))
  return Object.entries(owners).flatMap(([owner, owned]) => {
    const named = covers([owner], path) ? [] : owned.filter((table) => tables.has(table))
    const foreign = named.filter((table) => !readers.some(([, known]) => known === 'all' || known.includes(table)))
    return foreign.map((table) => `names the table ${table} of ${owner}`)
  })
}

function smallFileBreaches(file: SourceFacts, importedBy: readonly string[], { smallFiles }: Rules): string[] {
  const isSmall = file.path.startsWith('src/') && file.lines < smallFiles.minLines
  if (!isSmall || importedBy.length !== 1 || covers(smallFiles.plugIns, file.path)) return []
  return [`has ${file.lines} lines and one importer: fold it into ${importedBy[0]}`]
}

/** By file, which files of `src` import it. */
function importers(files: readonly SourceFacts[]): ReadonlyMap<string, readonly string[]> {
  const inSrc = files.filter(({ path }) => path.startsWith('src/'))
  const pairs = inSrc.flatMap(({ path, imports }) =>
    [...new Set(imports.map(({ target }) => target))].map((target) => ({ path, target })),
  )
  const grouped = Map.groupBy(pairs, ({ target }) => target)
  return new Map([...grouped].map(([target, all]) => [target, all.map(({ path }) => path)]))
}

function nameBreaches(path: string): string[] {
  const file = path.split('/').at(-1) ?? ''
  if (file === 'index.ts') return ['is a barrel: no index.ts']
  return /^[a-z0-9]+(-[a-z0-9]+)*(\.d|(\.conformance)?\.test)?\.ts$/.test(file) ? [] : ['is not named in kebab-case']
}
