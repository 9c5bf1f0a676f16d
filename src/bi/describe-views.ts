import type { BiView } from './view.ts'

/** The views as Markdown: what a row is, its key, and each column with its type and meaning, in English. */
export function describeViews(views: readonly BiView[]): string {
  return views.map(describeView).join('\n')
}

function describeView({ name, grain, remarks, key, columns }: BiView): string {
  const rows = Object.entries(columns).map(
    ([column, { type, words, personal }]) =>
      `| \`${column}\` | ${type} | ${escapeCell(words.en)}${personal === undefined ? '' : ' 🔒'} |`,
  )
  return [
    `### ${name}`,
    '',
    `A row is: ${grain.en.charAt(0).toLowerCase()}${grain.en.slice(1)}. Key: ${key.map((column) => `\`${column}\``).join(', ')}.`,
    ...(remarks.en === '' ? [] : [remarks.en]),
    '',
    '| column | type | is |',
    '| --- | --- | --- |',
    ...rows,
    '',
  ].join('\n')
}

function escapeCell(text: string): string {
  return text.replaceAll('|', '\\|')
}
