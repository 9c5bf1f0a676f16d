import { type Language, languages } from '../../core/column.ts'
import { wallTimeAt } from '../../core/wall-clock.ts'
import type { Assets } from '../assets.ts'
import { type Content, cutText, type Html, html } from '../html.ts'
import { fill, type Messages, messagesOf } from '../messages.ts'
import { link } from './view.ts'

interface Frame {
  readonly messages: Messages
  readonly assets: Assets['paths']
  /** Path and parameters of this page, for the language switch. */
  readonly path: string
  readonly parameters: Readonly<Record<string, string>>
  readonly version: string
  /** Undefined if the page shows no data. */
  readonly asOf: { readonly atMs: number; readonly timeZone: string } | undefined
  /** How often the script requests the page again, in seconds; 0 for a page that does not change. */
  readonly renewSeconds: number
}

/** A whole page. */
export function layout(frame: Frame, title: string, content: Content): Html {
  const { messages, assets, asOf } = frame
  const { pages, formats } = messages
  const [, place = ''] = frame.path.split('/')
  const links = (['overview', 'channels', 'runs', 'quarantine'] as const).map((name) => {
    const part = name === 'overview' ? '' : name
    return html`<a href="/${part}"${place === part && html` aria-current="page"`}>${pages[name]}</a>`
  })
  const readAt = asOf && fill(messages.asOf, { ...asOf, time: formats.wallTime(wallTimeAt(asOf.atMs, asOf.timeZone)) })
  return html`<!doctype html>
<html lang="${messages.languageTag}">
<head>
<meta charset="utf-8">
<title>${title === messages.title ? title : `${cutText(title, 60)} · ${messages.title}`}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<link rel="icon" href="${assets.icon}" type="image/svg+xml">
<link rel="stylesheet" href="${assets.style}">
<script src="${assets.chart}" defer></script>
<script src="${assets.script}" defer></script>
</head>
<body data-renew-seconds="${frame.renewSeconds}">
<a class="skip" href="#main">${messages.skip}</a>
<header class="top"><div class="wide">
<a class="brand" href="/">${messages.title}</a>
<nav aria-label="${pages.label}">${links}</nav>
<nav class="languages" aria-label="${messages.switchLanguage}">
${Object.values(languages).map((each) => languageLink(frame, each))}</nav>
</div></header>
<main id="main" class="wide" tabindex="-1">
<p id="silent" class="wrong" role="status" hidden>${messages.silent}</p>
${content}
</main>
<footer class="wide"><p id="as-of" data-renew>${readAt}</p>
<p><a href="#main">${messages.top}</a> · <a href="/metrics">${messages.metrics}</a> · livehouse ${frame.version}</p>
</footer>
</body>
</html>
`
}

function languageLink({ messages, path, parameters }: Frame, language: Language): Html {
  const { languageName: name, languageTag: tag } = messagesOf(language)
  if (language === messages.language) return html`<span lang="${tag}" aria-current="true">${name}</span>`
  const to = link(path, { ...parameters, lang: tag })
  return html`<a href="${to}" lang="${tag}" hreflang="${tag}">${name}</a>`
}

/** The page that asks for the token. @param next the path to go to afterwards */
export function loginPage(
  { login }: Messages,
  { isWrong, next }: { readonly isWrong: boolean; readonly next: string },
): Html {
  return html`<section class="login" aria-labelledby="login-title"><h1 id="login-title">${login.title}</h1>
<p id="login-text">${login.text}</p>
${isWrong && html`<p class="wrong" role="alert">${login.wrong}</p>`}
<form method="post" action="/login">
<input type="hidden" name="next" value="${next}">
<label>${login.token}<input type="password" name="token" required autocomplete="current-password"
 aria-describedby="login-text" autofocus></label>
<button type="submit">${login.title}</button>
</form></section>`
}

/** A page that says what went wrong, with a link to the overview. */
export function problemPage({ problems }: Messages, text: string): Html {
  return html`<section class="problem"><h1>${text}</h1><p><a href="/">${problems.back}</a></p></section>`
}
