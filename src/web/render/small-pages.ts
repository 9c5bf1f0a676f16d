import { type Html, html } from '../html.ts'
import type { Messages } from '../messages/messages-of.ts'

/** Where the token is asked for. `next`: the path to go to then. */
export function loginPage(
  { login }: Messages,
  { isWrong, next }: { readonly isWrong: boolean; readonly next: string },
): Html {
  return html`<section class="login" aria-labelledby="login-title"><h1 id="login-title">${login.title}</h1>
<p id="login-text">${login.text}</p>
${isWrong && html`<p class="wrong" role="alert">${login.wrong}</p>`}
<form method="post" action="/login">
<input type="hidden" name="next" value="${next}">
<label>${login.token}<input type="password" name="token" required autocomplete="current-password" aria-describedby="login-text" autofocus></label>
<button type="submit">${login.enter}</button>
</form></section>`
}

/** A page that says what went wrong, and leads back. */
export function problemPage({ problems }: Messages, text: string): Html {
  return html`<section class="problem"><h1>${text}</h1><p><a href="/">${problems.back}</a></p></section>`
}
