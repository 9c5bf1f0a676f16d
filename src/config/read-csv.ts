import { CsvError, type InfoRecord, parse } from 'csv-parse/sync'
import { readFileSync } from 'node:fs'
import { reasonOf } from './setting-source.ts'
import { show } from './values.ts'

/**
 * The text of a file: UTF-8, UTF-16, or GBK (GB 18030), as spreadsheets write them; undefined where it cannot be read,
 * which is refused. @param expected what it should hold: the end of the problem's sentence
 */
export function readTextFile(path: string, expected: string, refuse: (problem: string) => void): string | undefined {
  try {
    const text = decodeText(readFileSync(path))
    // Postgres can hold none.
    if (text.includes('\0')) throw new TypeError('a NUL')
    return text
  } catch (error) {
    const reason = error instanceof TypeError ? 'it is not text in UTF-8, UTF-16 or GBK' : reasonOf(error)
    refuse(`the file ${path} cannot be read (${reason}); ${expected}`)
    return undefined
  }
}

/** @throws TypeError for what is none of these */
function decodeText(bytes: Uint8Array): string {
  const mark = Buffer.from(bytes.subarray(0, 2)).toString('hex')
  // Without a byte order mark the first letter shows it: a header begins with an ASCII letter.
  const unicode = [/^fffe|00$/, /^feff|^00/].findIndex((order) => order.test(mark))
  if (unicode !== -1) return new TextDecoder(unicode === 0 ? 'utf-16le' : 'utf-16be', { fatal: true }).decode(bytes)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return new TextDecoder('gb18030', { fatal: true }).decode(bytes)
  }
}

interface Columns {
  readonly needed: readonly string[]
  readonly optional: readonly string[]
}

/** Whether a first line is the header of a table rather than a plain value. */
export function isHeader(line: string, { needed }: Pick<Columns, 'needed'>): boolean {
  return /[,;\t]/.test(line) || needed.includes(line.replaceAll('"', ''))
}

/**
 * The rows of CSV with a header that names columns in any order, separated by commas, semicolons or tabs, without blank
 * lines and `#` comments, each with the number of the line that it ends on; undefined where it is no such table, which
 * is refused. @param file its name, for the problems
 */
export function readTable(
  text: string,
  file: string,
  { needed, optional }: Columns,
  refuse: (problem: string) => void,
) {
  const first = text.split('\n').find((line) => !/^\s*(#|$)/.test(line)) ?? ''
  const delimiter = [',', ';', '\t'].find((each) => first.includes(each)) ?? ','
  const records = parseRecords(text, delimiter)
  if (typeof records === 'string') {
    refuse(`${file} is not CSV: ${records}; quotes should be closed, and doubled inside a cell`)
    return undefined
  }
  const [header, ...rows] = records
  const names = header?.cells ?? []
  const isKnown = (name: string, index: number) =>
    [...needed, ...optional].includes(name) && names.indexOf(name) === index
  if (!names.every(isKnown) || needed.some((name) => !names.includes(name))) {
    const expected = `${needed.join(', ')} and optionally ${optional.join(', ')}`
    refuse(`${file} has the header ${show(names.join(','))}; it should have ${expected}`)
    return undefined
  }
  return rows.map(({ line, cells }) => {
    if (cells.length !== names.length)
      refuse(`${file} line ${line}: there are ${cells.length} cells; it should have ${names.length}, as the header has`)
    return { line, cell: (column: string): string => cells[names.indexOf(column)] ?? '' }
  })
}

/** Each with the line that it ends on; why it is no CSV, where it is none. Lines may end in more ways than one. */
function parseRecords(text: string, delimiter: string) {
  const records: { readonly line: number; readonly cells: readonly string[] }[] = []
  const onRecord = (cells: string[], { lines: line }: InfoRecord): null => {
    records.push({ line, cells })
    return null
  }
  try {
    const options = { comment: '#', comment_no_infix: true, onRecord, relax_column_count: true, trim: true }
    parse(text.replace(/\r\n?/g, '\n'), { ...options, delimiter, skip_empty_lines: true })
    return records
  } catch (error) {
    if (error instanceof CsvError) return error.message
    throw error
  }
}
