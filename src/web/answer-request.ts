import type { IncomingMessage, ServerResponse } from 'node:http'
import type { OperatorActions } from '../app/operator-actions.ts'
import type { Readiness } from '../app/read-health.ts'
import type { Language } from '../core/column.ts'
import type { Log } from '../core/log.ts'
import { type Access, answerLogin, readCookies } from './access.ts'
import { answerAction } from './actions.ts'
import type { Assets } from './assets.ts'
import { chooseLanguage, languageOf, messagesOf } from './messages.ts'
import type { PageContent, PageRequest } from './pages.ts'
import { layout, loginPage, problemPage } from './render/layout.ts'
import { jsonReply, type Reply, send, textReply } from './reply.ts'

/** What the server needs to answer requests. */
export interface AnswerDeps {
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

interface RequestContext extends Omit<PageRequest, 'csrf'> {
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
  deps: AnswerDeps,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const isHead = request.method === 'HEAD'
  const { url: target = '' } = request
  const url = URL.parse(target, 'http://localhost')
  // Postgres cannot store NUL in text.
  if (url === null || !target.startsWith('/') || target.includes('%00'))
    return send(response, textReply(400, 'the address is malformed'), isHead)
  const context = readContext(deps, request, url)
  try {
    send(response, keepLanguage(context, await replyTo(deps, context)), isHead)
  } catch (error) {
    deps.log.error('http.failed', { path: url.pathname, err: error })
    const { messages } = context
    const content = problemPage(messages, messages.problems.broken)
    send(response, pageReply(deps, context, { status: 500, content }), isHead)
  }
}

function readContext({ language }: AnswerDeps, request: IncomingMessage, url: URL): RequestContext {
  const { pathname: path, searchParams: parameters } = url
  const cookies = readCookies(request.headers.cookie)
  const accepted = request.headers['accept-language']
  const ownLanguage = chooseLanguage(parameters.get('lang'), cookies.get(LANGUAGE_COOKIE), language, accepted)
  return { request, path, parameters, cookies, messages: messagesOf(ownLanguage) }
}

async function replyTo(deps: AnswerDeps, context: RequestContext): Promise<Reply> {
  const { path, request } = context
  const { method = '' } = request
  const isLogin = path === '/login' && deps.access.session !== undefined
  if (method === 'POST' && isLogin)
    return await answerLogin(deps.access, request, (next) => loginReply(deps, context, next, true))
  if (method === 'POST') {
    const reply = await replyToForm(deps, context)
    if (reply !== undefined) return reply
  }
  if (method !== 'GET' && method !== 'HEAD')
    return textReply(405, `this path does not allow ${method}`, { allow: isLogin ? 'GET, HEAD, POST' : 'GET, HEAD' })
  if (path === '/healthz') return jsonReply(200, { status: 'alive' })
  if (path === '/readyz') {
    const readiness = await deps.readReadiness()
    return jsonReply(readiness.status === 'ready' ? 200 : 503, readiness)
  }
  const asset = deps.assets.byPath.get(path)
  if (asset !== undefined)
    return { status: 200, ...asset, headers: { 'cache-control': `public, max-age=${YEAR_SECONDS}, immutable` } }
  const refused = refusal(deps, context)
  if (refused !== undefined) return refused
  if (isLogin) return loginReply(deps, context, '/', false)
  if (path === '/metrics') {
    const { contentType, text } = await deps.renderMetrics()
    return { status: 200, contentType, body: text }
  }
  const page = await deps.makePage({ ...context, csrf: deps.actions && deps.access.csrf })
  return pageReply(deps, context, page)
}

async function replyToForm(deps: AnswerDeps, context: RequestContext): Promise<Reply | undefined> {
  const { access, actions } = deps
  if (actions === undefined || access.csrf === undefined) return undefined
  const refused = refusal(deps, context)
  if (refused !== undefined) return refused
  const { messages, request, path } = context
  const problem = (status: number, text: string) =>
    pageReply(deps, context, { status, content: problemPage(messages, text) })
  return await answerAction({ access, actions, messages, problem }, request, path)
}

/** The reply to a request that may not see the page; undefined for one that may. */
function refusal(deps: AnswerDeps, context: RequestContext): Reply | undefined {
  const { request, path } = context
  const { host, authorization } = request.headers
  if (!deps.access.isHostKnown(host)) {
    const reason = 'without LIVEHOUSE_HTTP_TOKEN this page is served only at localhost, 127.0.0.1 and [::1]'
    return textReply(403, `${reason}; set the token to reach it by another name`)
  }
  if (path === '/login' || deps.access.isAllowed(authorization, context.cookies)) return undefined
  if (authorization !== undefined) deps.access.logWrongToken(request.socket.remoteAddress)
  if (path === '/metrics') {
    const hint = 'send the value of LIVEHOUSE_HTTP_TOKEN in the header Authorization: Bearer TOKEN'
    return textReply(401, hint, { 'www-authenticate': 'Bearer realm="livehouse"' })
  }
  return loginReply(deps, context, request.url ?? '/', false)
}

function loginReply(deps: AnswerDeps, context: RequestContext, next: string, isWrong: boolean): Reply {
  return pageReply(deps, context, { status: 401, content: loginPage(context.messages, { isWrong, next }) })
}

function pageReply({ assets, version }: AnswerDeps, context: RequestContext, page: PageContent): Reply {
  const { messages, path } = context
  const { facts, isBusy = false, title = messages.title, content, status } = page
  const renewSeconds = status >= 400 && status < 500 ? 0 : isBusy ? RENEW_BUSY_SECONDS : RENEW_SECONDS
  const parameters = Object.fromEntries([...context.parameters].filter(([name]) => name !== 'lang'))
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
function keepLanguage({ parameters }: RequestContext, reply: Reply): Reply {
  const language = languageOf(parameters.get('lang') ?? '')
  if (language === undefined) return reply
  const cookie = `${LANGUAGE_COOKIE}=${language}; Path=/; Max-Age=${YEAR_SECONDS}; HttpOnly; SameSite=Strict`
  return { ...reply, headers: { ...reply.headers, 'set-cookie': cookie } }
}
