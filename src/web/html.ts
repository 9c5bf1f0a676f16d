/** Markup that is safe to send. Only the `html` tag makes it: there is no way to pass text for markup. */
export class Html {
  readonly #markup: string

  private constructor(markup: string) {
    this.#markup = markup
  }

  static of(this: void, strings: TemplateStringsArray, ...values: readonly Content[]): Html {
    const parts = strings.map((fixed, index) => (index === 0 ? fixed : markupOf(values[index - 1]) + fixed))
    return new Html(parts.join(''))
  }

  toString(): string {
    return this.#markup
  }
}

/** What may stand in a template: text is escaped, markup goes in as it is; null, undefined and `false` are left out. */
export type Content = Html | string | number | false | null | undefined | readonly Content[]

/**
 * A template whose values cannot become markup: a name that holds markup is shown as text. In tags,
 * values stand only inside double quotes: `` html`<a href="${path}">${name}</a>` ``.
 */
export const html = Html.of

const entities: Readonly<Record<string, string>> = { '&': 'amp', '<': 'lt', '>': 'gt', '"': 'quot', "'": '#39' }

function markupOf(value: Content): string {
  if (value === null || value === undefined || value === false) return ''
  if (value instanceof Html) return value.toString()
  if (typeof value === 'object') return value.map(markupOf).join('')
  return escape(String(value))
}

/** Marks of writing direction: in a name they would reorder the text beside it. */
const TURNING = /[\u202a-\u202e\u2066-\u2069]/g

/** Control characters, which HTML forbids, and marks of direction are removed; what HTML reads becomes entities. */
function escape(text: string): string {
  // oxlint-disable-next-line eslint/no-control-regex
  const plain = text.toWellFormed().replaceAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g, '\ufffd')
  return plain.replaceAll(TURNING, '').replaceAll(/[&<>"']/g, (mark) => `&${entities[mark] ?? ''};`)
}

/** Text of others (names, labels, errors), isolated so that right-to-left letters reorder nothing beside it. */
export function untrusted(text: string, longest = 120): Html {
  const pieces = cutText(text, longest).replaceAll(PLACE_TO_BREAK, '$&\u0000').split('\u0000')
  return html`<bdi>${pieces.map((piece, index) => html`${index > 0 && html`<wbr>`}${piece}`)}</bdi>`
}

/** Where a line may end: after slashes of a path, and within 30 characters without a space. Ids are not broken. */
const PLACE_TO_BREAK = /[/=](?=.)|[^\s/=]{30}(?=.)/gu

/** The same where no markup is possible: cut to a readable length. */
export function cutText(text: string, longest: number): string {
  // Not in the middle of a surrogate pair.
  return text.length > longest ? `${text.slice(0, longest - 1).replace(/[\ud800-\udbff]$/, '')}…` : text
}

/**
 * A message without the values that it quotes, for a page that shows nobody's data: what stands in quotes and long
 * numbers become `…`. A number that follows the word channel or code stays.
 */
export function maskValues(message: string): string {
  return message
    .replaceAll(/"(?:[^"\\]|\\.)*("|$)/gs, '…')
    .replaceAll(/(channel[ =]|code )?\d{5,}/g, (number, word?: string) => (word === undefined ? '…' : number))
}

/** A message in English as a page shows it: without values. */
export function maskedText(message: string, longest = 300): Html {
  return html`<span lang="en">${untrusted(maskValues(message), longest)}</span>`
}

/**
 * JSON text that shows the shape of its values and none of them: digits become 0, letters x. Names of fields stay where
 * they are written as the interface writes its own. The text may be cut before its end.
 */
export function maskJson(json: string): string {
  const masked = json.replaceAll(/"(?:[^"\\]|\\.)*("|$)(\s*:)?|[^"]+/gs, (part, _, colon?: string) => {
    const isName = colon !== undefined && /^"[A-Za-z_]{1,40}"/.test(part)
    if (isName || /^(?:true|false|null|[\s,:[\]{}])+$/.test(part)) return part
    return part.replaceAll(/\\u[0-9a-fA-F]{4}|\p{L}|\p{M}/gu, 'x').replaceAll(/\p{N}/gu, '0')
  })
  return masked.replaceAll(',"', ', "')
}
