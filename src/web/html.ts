/** Markup that is safe to send. Only the `html` tag creates it, so text cannot be mistaken for markup. */
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

/** A value in a template: text is escaped, markup is inserted as it is; null, undefined and `false` are left out. */
export type Content = Html | string | number | false | null | undefined | readonly Content[]

/**
 * Creates markup from a template whose values are escaped. Inside a tag, values are safe only in double quotes:
 * `` html`<a href="${path}">${name}</a>` ``.
 */
export const html = Html.of

const entities: Readonly<Record<string, string>> = { '&': 'amp', '<': 'lt', '>': 'gt', '"': 'quot', "'": '#39' }

function markupOf(value: Content): string {
  if (value === null || value === undefined || value === false) return ''
  if (value instanceof Html) return value.toString()
  if (typeof value === 'object') return value.map(markupOf).join('')
  return escape(String(value))
}

/** Bidirectional control characters: in a name, they would reorder the text beside it. */
const BIDI_CONTROLS = /[\u202a-\u202e\u2066-\u2069]/g

/** Escapes markup, replaces control characters, which HTML forbids, by U+FFFD, and removes bidirectional controls. */
function escape(text: string): string {
  // oxlint-disable-next-line eslint/no-control-regex
  const plain = text.toWellFormed().replaceAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g, '\ufffd')
  return plain.replaceAll(BIDI_CONTROLS, '').replaceAll(/[&<>"']/g, (mark) => `&${entities[mark] ?? ''};`)
}

/** Isolates and cuts text from outside (names, labels, errors): right-to-left letters may reorder their neighbours. */
export function isolate(text: string, longest = 120): Html {
  const pieces = cutText(text, longest).replaceAll(LINE_BREAK_PLACES, '$&\u0000').split('\u0000')
  return html`<bdi>${pieces.map((piece, index) => html`${index > 0 && html`<wbr>`}${piece}`)}</bdi>`
}

/** Where a line may break: after a slash or equals sign, and after 30 characters without a space (ids are shorter). */
const LINE_BREAK_PLACES = /[/=](?=.)|[^\s/=]{30}(?=.)/gu

/** Cuts a text to `longest` characters, the last of them an ellipsis. */
export function cutText(text: string, longest: number): string {
  // Never split a surrogate pair.
  return text.length > longest ? `${text.slice(0, longest - 1).replace(/[\ud800-\udbff]$/, '')}…` : text
}

/**
 * Masks the values in a message, since the page shows no personal data: quoted text and numbers of five or more digits
 * become `…`, except numbers after the word channel or code.
 */
export function maskValues(message: string): string {
  return message
    .replaceAll(/"(?:[^"\\]|\\.)*("|$)/gs, '…')
    .replaceAll(/(channel[ =]|code )?\d{5,}/g, (number, word?: string) => (word === undefined ? '…' : number))
}

/** A message in English with its values masked. */
export function maskMessage(message: string, longest = 300): Html {
  return html`<span lang="en">${isolate(maskValues(message), longest)}</span>`
}

/**
 * Masks the values of JSON text, which may be truncated, but keeps their shape: digits become 0, letters x. Names of
 * fields stay if they look like those of the interface. A space after each comma lets lines break.
 */
export function maskJson(json: string): string {
  const masked = json.replaceAll(/"(?:[^"\\]|\\.)*("|$)(\s*:)?|[^"]+/gs, (part, _, colon?: string) => {
    const isName = colon !== undefined && /^"[A-Za-z_]{1,40}"/.test(part)
    if (isName || /^(?:true|false|null|[\s,:[\]{}])+$/.test(part)) return part
    return part.replaceAll(/\\u[0-9a-fA-F]{4}|\p{L}|\p{M}/gu, 'x').replaceAll(/\p{N}/gu, '0')
  })
  return masked.replaceAll(',"', ', "')
}
