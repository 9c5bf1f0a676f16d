import { type Content, type Html, html } from '../html.ts'

/** A column of a table: what it is called and what stands in it. */
export interface TableColumn<Row> {
  readonly head: string
  readonly cell: (row: Row) => Content
  readonly isNumber?: boolean
}

interface TableSpec<Row> {
  /** Says what the table is; read out, and seen only where `isCaptionShown`. */
  readonly caption: string
  readonly isCaptionShown?: boolean
  /** The first one names the row. */
  readonly columns: readonly TableColumn<Row>[]
  readonly rows: readonly Row[]
  /** What to say in place of a table without rows. */
  readonly empty: string
  readonly className?: string
}

/**
 * A table with a caption and headings for both directions. On a phone its rows become blocks, in which each cell carries the
 * name of its column; the roles keep it a table for screen readers.
 */
export function dataTable<Row>({ caption, isCaptionShown, columns, rows, empty, className }: TableSpec<Row>): Html {
  if (rows.length === 0) return html`<p class="empty">${empty}</p>`
  const head = columns.map(({ head, isNumber }) => {
    return html`<th scope="col" role="columnheader" class="${isNumber ? 'number' : ''}">${head}</th>`
  })
  const cellOf = ({ head, cell, isNumber }: TableColumn<Row>, row: Row, index: number): Html => {
    if (index === 0) return html`<th scope="row" role="rowheader">${cell(row)}</th>`
    return html`<td role="cell" data-label="${head}" class="${isNumber ? 'number' : ''}"><div>${cell(row)}</div></td>`
  }
  const body = rows.map((row) => {
    return html`<tr role="row">${columns.map((column, index) => cellOf(column, row, index))}</tr>
`
  })
  return html`<table role="table" class="data ${className}">
<caption class="${isCaptionShown ? '' : 'unseen'}">${caption}</caption>
<thead role="rowgroup"><tr role="row">${head}</tr></thead>
<tbody role="rowgroup">
${body}</tbody>
</table>`
}
