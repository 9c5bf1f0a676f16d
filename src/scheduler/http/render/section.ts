import { type Content, type Html, html } from '../html.ts'
import type { Messages } from '../messages/messages-of.ts'

/** A part of a page under its heading. The script renews it as a whole, by its id. `note`: in place of the usual one. */
export function section(
  messages: Messages,
  name: keyof Messages['sections'],
  content: Content,
  note: string = messages.notes[name],
): Html {
  return html`<section id="${name}" class="part" aria-labelledby="${name}-title" data-renew>
<header><h2 id="${name}-title">${messages.sections[name]}</h2>${note !== '' && html`<p class="note">${note}</p>`}</header>
${content}
</section>
`
}
