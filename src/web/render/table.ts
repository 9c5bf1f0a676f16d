import { type Content, type Html, html } from '../html.ts'
import { fill, type Messages } from '../messages.ts'
import { link, section, type View } from './view.ts'

/** A column of a table: its heading and its cells. Numbers are formatted in the page's language and aligned right. */
export type Column<Row> = readonly [head: keyof Messages['columns'], cell: (row: Row) => Content]

interface TableOptions {
  readonly className?: string
  /** Replaces the section's usual note. */
  readonly note?: string
  /** How many rows are left out at the end. */
  readonly leftOut?: number
  readonly more?: Content
}

/**
 * A section with a table, whose first column names the rows. Without rows it says so or, if there are no words for
 * that, is hidden until the script finds some. On a phone, rows become blocks in which each cell shows the name of its
 * column; the roles keep it a table for screen readers.
 */
export function tableSection<Row>(
  { messages }: View,
  name: keyof Messages['sections'],
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  { className = '', note, leftOut = 0, more }: TableOptions = {},
): Html {
  const empty: Readonly<Partial<Record<string, string>>> = messages.empty
  if (rows.length === 0) {
    if (empty[name] === undefined) return html`<section id="${name}" data-renew hidden></section>`
    return section(messages, name, html`<p class="empty">${empty[name]}</p>${more}`, note)
  }
  const { number } = messages.formats
  const rendered = columns.map(([head, cell]) => {
    const values = rows.map(cell)
    const kind = values.some((value) => typeof value === 'number') ? 'number' : ''
    const cells = values.map((value) => (typeof value === 'number' ? number(value) : value))
    return { head: messages.columns[head], kind, cells }
  })
  const heads = rendered.map(({ head, kind }) => html`<th scope="col" role="columnheader" class="${kind}">${head}</th>`)
  const body = rows.map((_, row) => {
    const cells = rendered.map(({ head, kind, cells: ofColumn }, index) => {
      if (index === 0) return html`<th scope="row" role="rowheader">${ofColumn[row]}</th>`
      return html`<td role="cell" data-label="${head}" class="${kind}"><div>${ofColumn[row]}</div></td>`
    })
    return html`<tr role="row">${cells}</tr>
`
  })
  const table = html`<table role="table" class="data ${className}">
<caption class="unseen">${messages.sections[name]}</caption>
<thead role="rowgroup"><tr role="row">${heads}</tr></thead>
<tbody role="rowgroup">
${body}</tbody>
</table>`
  const leftOutNote = leftOut > 0 && html`<p class="note">${fill(messages.more, { count: number(leftOut) })}</p>`
  return section(messages, name, html`${table}${leftOutNote}${more}`, note)
}

/** One page of a long list. */
export interface ListPage<Row> {
  readonly rows: readonly Row[]
  /** From 1. */
  readonly page: number
  readonly hasMore: boolean
}

/** Links to the previous and the next page of a filtered list; nothing if there is only one page. */
export function pagination(
  { messages: { filter: words, formats } }: View,
  path: string,
  filter: Readonly<Record<string, string>>,
  { page, hasMore }: ListPage<unknown>,
): Html | false {
  const to = (number: number): string => link(path, { ...filter, page: `${number}` })
  if (page === 1 && !hasMore) return false
  return html`<nav class="pages" aria-label="${words.pagination}">
${page > 1 && html`<a rel="prev" href="${to(page - 1)}">${words.previous}</a>`}
<span aria-current="page">${fill(words.page, { page: formats.number(page) })}</span>
${hasMore && html`<a rel="next" href="${to(page + 1)}">${words.next}</a>`}
</nav>`
}

/** A form that filters a list. */
export function filterForm({ messages }: View, path: string, fields: Content): Html {
  return html`<form class="filter" method="get" action="${path}" role="search">
${fields}
<button type="submit">${messages.filter.apply}</button>
</form>`
}

/** A select field of a filter, whose first option stands for no choice. */
export function choice(
  { messages }: View,
  name: string,
  label: string,
  chosen: string,
  options: readonly (readonly [value: string, text: string])[],
): Html {
  const tags = [['', messages.filter.all] as const, ...options].map(
    ([value, text]) => html`<option value="${value}"${value === chosen && html` selected`}>${text}</option>`,
  )
  return html`<label>${label}<select name="${name}">${tags}</select></label>`
}
