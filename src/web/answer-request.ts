import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Language } from '../core/column.ts'
import type { Log } from '../core/log.ts'
import type { OperatorActions } from '../app/operator-actions.ts'
import type { Readiness } from '../app/read-health.ts'
import { type Access, readCookies, answerLogin } from './access.ts'
import { answerAction } from './actions.ts'
import type { Assets } from './assets.ts'
import type { PageContent, PageRequest } from './pages.ts'
import { layout, loginPage, problemPage } from './render/layout.ts'
import { jsonReply, type Reply, send, textReply } from './reply.ts'
import { messagesOf, chooseLanguage, languageOf } from './messages.ts'

/** What the server needs to answer requests. */
export interface Answering {
  readonly access: Access
  readonly assets: Assets
  /** `LIVEHOUSE_LANG`; undefined for the browser's language. */
  readonly language: Language | undefined
  readonly version: string
  readonly log: Log
  /** Undefined if the page offers no actions. */
  readonly actions?: OperatorActions
  readonly makePage: (request: PageRequest) => Promise<PageContent>
  readonly readReadiness: () => Promise<Readiness>
  readonly renderMetrics: () => Promise<{ readonly contentType: string; readonly text: string }>
}

interface Asked extends Omit<PageRequest, 'csrf'> {
  readonly request: IncomingMessage
  readonly cookies: ReadonlyMap<string, string>
}

const LANGUAGE_COOKIE = 'livehouse_lang'
const YEAR_SECONDS = 31_536_000
/** How often the script requests the page again; the database is read less often (`facts.ts`). */
const RENEW_SECONDS = 10
const RENEW_BUSY_SECONDS = 2

/** Answers one request. GET and HEAD only read; POST signs in and, behind the token, performs actions. */
export async function answerRequest(
  answering: Answering,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const isHead = request.method === 'HEAD'
  const { url: given = '' } = request
  const url = URL.parse(given, 'http://localhost')
  // Text of Postgres cannot contain NUL.
  if (url === null || !given.startsWith('/') || given.includes('%00'))
    return send(response, textReply(400, 'no such address'), isHead)
  const asked = readAsked(answering, request, url)
  try {
    send(response, withLanguage(asked, await replyTo(answering, asked)), isHead)
  } catch (error) {
    answering.log.error('http.failed', { path: url.pathname, err: error })
    const { messages } = asked
    if (response.headersSent) return void response.destroy()
    const content = problemPage(messages, messages.problems.broken)
    send(response, framed(answering, asked, { status: 500, content }), isHead)
  }
}

function readAsked({ language }: Answering, request: IncomingMessage, url: URL): Asked {
  const { pathname: path, searchParams: parameters } = url
  const cookies = readCookies(request.headers.cookie)
  const accepted = request.headers['accept-language']
  const chosen = chooseLanguage(parameters.get('lang'), cookies.get(LANGUAGE_COOKIE), language, accepted)
  return { request, path, parameters, cookies, messages: messagesOf(chosen) }
}

async function replyTo(answering: Answering, asked: Asked): Promise<Reply> {
  const { path, request } = asked
  const { method = '' } = request
  const isLogin = path === '/login' && answering.access.session !== undefined
  if (method === 'POST' && isLogin)
    return await answerLogin(answering.access, request, (next) => loginReply(answering, asked, next, true))
  if (method === 'POST') {
    const done = await replyToForm(answering, asked)
    if (done !== undefined) return done
  }
  if (method !== 'GET' && method !== 'HEAD')
    return textReply(405, 'this path is only read', { allow: isLogin ? 'GET, HEAD, POST' : 'GET, HEAD' })
  if (path === '/healthz') return jsonReply(200, { status: 'alive' })
  if (path === '/readyz') {
    const readiness = await answering.readReadiness()
    return jsonReply(readiness.status === 'ready' ? 200 : 503, readiness)
  }
  const asset = answering.assets.byPath.get(path)
  if (asset !== undefined)
    return { status: 200, ...asset, headers: { 'cache-control': `public, max-age=${YEAR_SECONDS}, immutable` } }
  const refused = refusal(answering, asked)
  if (refused !== undefined) return refused
  if (isLogin) return loginReply(answering, asked, '/', false)
  if (path === '/metrics') {
    const { contentType, text } = await answering.renderMetrics()
    return { status: 200, contentType, body: text }
  }
  const page = await answering.makePage({ ...asked, csrf: answering.actions && answering.access.csrf })
  return framed(answering, asked, page)
}

async function replyToForm(answering: Answering, asked: Asked): Promise<Reply | undefined> {
  const { access, actions } = answering
  if (actions === undefined || access.csrf === undefined) return undefined
  const refused = refusal(answering, asked)
  if (refused !== undefined) return refused
  const { messages, request, path } = asked
  const problem = (status: number, text: string) =>
    framed(answering, asked, { status, content: problemPage(messages, text) })
  return await answerAction({ access, actions, messages, problem }, request, path)
}

/** The reply to a request that may not see the page; undefined for one that may. */
function refusal(answering: Answering, asked: Asked): Reply | undefined {
  const { request, path } = asked
  const { host, authorization } = request.headers
  if (!answering.access.isHostKnown(host)) {
    const known = 'without LIVEHOUSE_HTTP_TOKEN this page answers only as localhost, 127.0.0.1 or [::1]'
    return textReply(403, `${known}; set the token to reach it by another name`)
  }
  if (path === '/login' || answering.access.isAllowed(authorization, asked.cookies)) return undefined
  if (authorization !== undefined) answering.access.refuse(request.socket.remoteAddress, 'bearer')
  if (path === '/metrics') {
    const hint = 'send the value of LIVEHOUSE_HTTP_TOKEN as Authorization: Bearer'
    return textReply(401, hint, { 'www-authenticate': 'Bearer realm="livehouse"' })
  }
  return loginReply(answering, asked, request.url ?? '/', false)
}

function loginReply(answering: Answering, asked: Asked, next: string, isWrong: boolean): Reply {
  return framed(answering, asked, { status: 401, content: loginPage(asked.messages, { isWrong, next }) })
}

function framed({ assets, version }: Answering, asked: Asked, page: PageContent): Reply {
  const { messages, path } = asked
  const { facts, isBusy = false, title = messages.title, content, status } = page
  const renewSeconds = status >= 400 && status < 500 ? 0 : isBusy ? RENEW_BUSY_SECONDS : RENEW_SECONDS
  const parameters = Object.fromEntries([...asked.parameters].filter(([name]) => name !== 'lang'))
  const asOf = facts && { atMs: facts.readAtMs, timeZone: facts.timeZone }
  const frame = { messages, assets: assets.paths, path, parameters, version, asOf, renewSeconds }
  return {
    status,
    contentType: 'text/html; charset=utf-8',
    body: layout(frame, title, content).toString(),
    headers: { 'content-language': messages.languageTag, vary: 'accept-language, cookie' },
  }
}

/** Keeps the language of the parameter `lang` in a cookie. */
function withLanguage({ parameters }: Asked, reply: Reply): Reply {
  const language = languageOf(parameters.get('lang') ?? '')
  if (language === undefined) return reply
  const cookie = `${LANGUAGE_COOKIE}=${language}; Path=/; Max-Age=${YEAR_SECONDS}; HttpOnly; SameSite=Strict`
  return { ...reply, headers: { ...reply.headers, 'set-cookie': cookie } }
}
