import { readFileSync } from 'node:fs'
import { CsvError, type InfoRecord, parse } from 'csv-parse/sync'
import { reasonOf } from './setting-source.ts'
import { quote } from './values.ts'

/**
 * Reads a text file in UTF-8, UTF-16 or GBK (GB 18030), the encodings that spreadsheets write; undefined, and refused,
 * if it cannot be read. @param expected the end of the message: what the file should contain
 */
export function readTextFile(path: string, expected: string, refuse: (problem: string) => void): string | undefined {
  try {
    const text = decodeText(readFileSync(path))
    // Postgres cannot store U+0000.
    if (text.includes('\0')) throw new TypeError('a NUL')
    return text
  } catch (error) {
    const reason = error instanceof TypeError ? 'it is not text in UTF-8, UTF-16 or GBK' : reasonOf(error)
    refuse(`the file ${path} cannot be read (${reason}); ${expected}`)
    return undefined
  }
}

/** @throws TypeError if the bytes are in none of these encodings */
function decodeText(bytes: Uint8Array): string {
  const mark = Buffer.from(bytes.subarray(0, 2)).toString('hex')
  // Without a byte order mark, a zero byte beside the first character shows UTF-16: the file begins in ASCII.
  if (/^fffe|00$/.test(mark)) return new TextDecoder('utf-16le', { fatal: true }).decode(bytes)
  if (/^feff|^00/.test(mark)) return new TextDecoder('utf-16be', { fatal: true }).decode(bytes)
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

/** Whether the first line of a file is a CSV header rather than a plain value. */
export function isHeader(line: string, { needed }: Pick<Columns, 'needed'>): boolean {
  return /[,;\t]/.test(line) || needed.includes(line.replaceAll('"', ''))
}

/**
 * Reads CSV with a header: columns in any order, separated by commas, semicolons or tabs; blank lines and `#` comments
 * are skipped. Each row has the number of its last line. Undefined, and refused, if the file or its header is wrong.
 * @param file its name, for messages
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
    refuse(`${file} has the header ${quote(names.join(','))}; it should have ${expected}`)
    return undefined
  }
  return rows.map(({ line, cells }) => {
    if (cells.length !== names.length)
      refuse(`${file} line ${line}: it has ${cells.length} cells; it should have ${names.length}, like the header`)
    return { line, cell: (column: string): string => cells[names.indexOf(column)] ?? '' }
  })
}

/** Records with the number of their last line, or why the text is not CSV. Accepts LF, CRLF and CR. */
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
