import { posix } from 'node:path'
import { parseAst } from 'vitest/node'

/** One import, export from, dynamic import or imported type. */
export interface Import {
  /** A path from the root of the project for a relative import, else as written. */
  readonly target: string
  readonly isRelative: boolean
  readonly isTypeOnly: boolean
}

/** What the rules need to know about a file. */
export interface SourceFacts {
  readonly path: string
  readonly lines: number
  /** The length of its longest line. */
  readonly columns: number
  readonly imports: readonly Import[]
  /** Its texts as written, and the names of properties. */
  readonly texts: readonly string[]
  /** Tables and views of `livehouse_ops` in its SQL, and bare names passed to the query builder. */
  readonly tables: ReadonlySet<string>
  /** What else it does that a rule may forbid. */
  readonly habits: ReadonlySet<Habit>
}

/** Something that only some files may do. */
export type Habit = 're-export' | 'process.env' | 'time' | 'computed import' | 'pg_locks'

const timers = new Set(['setTimeout', 'setInterval', 'setImmediate'])

/** Parses a TypeScript file and collects its facts. */
export function readSource(path: string, text: string): SourceFacts {
  const imports: Import[] = []
  const habits = new Set<Habit>()
  const texts: string[] = []
  const tables = new Set<string>()
  const addImport = (source: unknown, isTypeOnly: boolean): void => {
    const specifier = field(source, 'value')
    if (typeof specifier !== 'string') return void habits.add('computed import')
    const isRelative = specifier.startsWith('.')
    const target = isRelative ? posix.join(posix.dirname(path), specifier) : specifier
    imports.push({ target, isRelative, isTypeOnly })
    if (/^(node:)?timers(\/|$)/.test(specifier) || specifier === 'node:perf_hooks') habits.add('time')
    if (specifier === 'node:process') habits.add('process.env')
  }
  visit(parseAst(text, { lang: 'ts' }), (node) => {
    switch (node.type) {
      case 'ImportDeclaration':
        addImport(node.source, isTypeImport(node))
        break
      case 'ExportNamedDeclaration':
      case 'ExportAllDeclaration':
        if (field(node, 'source')) {
          addImport(node.source, node.exportKind === 'type')
          habits.add('re-export')
        }
        break
      case 'ImportExpression':
        addImport(node.source, false)
        break
      case 'TSImportType':
        addImport(node.source, true)
        break
      default:
        texts.push(...textsOf(node))
        for (const table of tablesOf(node)) tables.add(table)
        for (const habit of habitsOf(node)) habits.add(habit)
    }
  })
  const rows = text.split('\n')
  const columns = Math.max(...rows.map(({ length }) => length))
  return { path, lines: rows.length - (text.endsWith('\n') ? 1 : 0), columns, imports, texts, tables, habits }
}

function textsOf(node: Node): string[] {
  if (node.type === 'TemplateElement') return [String(field(node.value, 'raw'))]
  if (node.type === 'Property') return [nameOf(node.key)]
  return node.type === 'Literal' && typeof node.value === 'string' ? [node.value] : []
}

/** Methods of the query builder that take tables. */
const TABLE_METHOD = /^(selectFrom|insertInto|updateTable|deleteFrom|from|using|\w+Join)$/
const IN_SQL = /\b(?:from|join|into|update|using|,)\s+livehouse_ops\.(\w+)/gi

function tablesOf(node: Node): string[] {
  if (node.type === 'CallExpression' && TABLE_METHOD.test(nameOf(field(node.callee, 'property')))) {
    const [first] = Array.isArray(node.arguments) ? node.arguments : []
    const elements = field(first, 'elements')
    const names = (Array.isArray(elements) ? elements : [first]).map((each) => nameOf(each))
    return names.map((name) => name.replace(/^livehouse_ops\./, '').replace(/ as .*/, ''))
  }
  return textsOf(node).flatMap((text) => {
    const whole = /^livehouse_ops\.(\w+)$/.exec(text)?.[1]
    return whole === undefined ? [...text.matchAll(IN_SQL)].map(([, table = '']) => table) : [whole]
  })
}

function habitsOf(node: Node): Habit[] {
  if (node.type === 'TemplateElement' && /\bpg_locks\b/.test(String(field(node.value, 'raw')))) return ['pg_locks']
  const callee = nameOf(node.callee)
  if (node.type === 'NewExpression' && callee === 'Date' && isEmpty(node.arguments)) return ['time']
  if (node.type === 'CallExpression' && (callee === 'Date' || timers.has(callee))) return ['time']
  if (node.type !== 'MemberExpression' && node.type !== 'VariableDeclarator') return []
  const object = nameOf(node.object ?? node.init)
  const names = node.type === 'MemberExpression' ? [nameOf(node.property)] : patternNames(node.id)
  if (object === 'process' && names.includes('env')) return ['process.env']
  if ((object === 'Date' || object === 'performance') && names.includes('now')) return ['time']
  if (object === 'globalThis' && names.some((name) => timers.has(name))) return ['time']
  return []
}

type Node = Readonly<Record<string, unknown>> & { readonly type: string }

function visit(value: unknown, onNode: (node: Node) => void): void {
  if (Array.isArray(value)) for (const each of value) visit(each, onNode)
  if (!isNode(value)) return
  onNode(value)
  for (const child of Object.values(value)) visit(child, onNode)
}

function isNode(value: unknown): value is Node {
  return typeof field(value, 'type') === 'string'
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}

/** The name of an identifier, or the text of a literal (`process['env']`). */
function nameOf(node: unknown): string {
  const name = field(node, 'name') ?? field(node, 'value')
  return typeof name === 'string' ? name : ''
}

function patternNames(pattern: unknown): string[] {
  const properties = field(pattern, 'properties')
  return Array.isArray(properties) ? properties.map((property) => nameOf(field(property, 'key'))) : []
}

function isTypeImport(node: Node): boolean {
  const { specifiers } = node
  const isEach = Array.isArray(specifiers) && specifiers.length > 0
  return node.importKind === 'type' || (isEach && specifiers.every((each) => field(each, 'importKind') === 'type'))
}

const isEmpty = (list: unknown): boolean => Array.isArray(list) && list.length === 0
