import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { isIPv6 } from 'node:net'
import type { OperatorActions } from '../app/operator-actions.ts'
import { notReady, type Readiness, readReadiness } from '../app/read-health.ts'
import { type Clock, within } from '../core/clock.ts'
import { LivehouseError, messageOf } from '../core/errors.ts'
import type { Db } from '../store/database.ts'
import { createAccess } from './access.ts'
import { type AnswerDeps, answerRequest } from './answer-request.ts'
import { readAssets } from './assets.ts'
import { ANSWER_TIMEOUT_MS, createFactsSource, type FactsDeps } from './facts.ts'
import { createStatusMetrics } from './metrics.ts'
import { makePage } from './pages.ts'

/** What the status server shows, and to whom. */
export interface StatusServerOptions extends FactsDeps, Pick<AnswerDeps, 'language' | 'version'> {
  /** `LIVEHOUSE_HTTP`; port 0 for any free port. */
  readonly listen: { readonly host: string; readonly port: number }
  /** `LIVEHOUSE_HTTP_TOKEN`; may be undefined only on loopback. */
  readonly token: string | undefined
  /** The actions that the page offers behind the token; none if not given. */
  readonly actions?: OperatorActions
}

/** A running status server; disposing of it ends its connections. */
export type StatusServer = Awaited<ReturnType<typeof startStatusServer>>

/** What 500 connections can send at once would stop the event loop for 98 s; a lease expires after 20 s. */
const MAX_CONNECTIONS = 100
/** A connection that takes longer to send its request is closed: 100 idle ones would shut out health checks. */
const REQUEST_TIMEOUT_MS = 3000

/**
 * Serves the status page, `/healthz`, `/readyz` and `/metrics`.
 * @throws LivehouseError `config.invalid` if it cannot listen
 */
export async function startStatusServer(options: StatusServerOptions) {
  const metrics = createStatusMetrics(options.version)
  const readFacts = createFactsSource(options)
  const askReadiness = createReadiness(options)
  const deps: AnswerDeps = {
    ...options,
    access: createAccess(options.token, options),
    assets: await readAssets(),
    makePage: async (request) => await makePage({ ...options, readFacts }, request),
    readReadiness: askReadiness,
    renderMetrics: async () => {
      const [{ facts }, { database }] = await Promise.all([readFacts(ANSWER_TIMEOUT_MS), askReadiness()])
      // Readiness decides, not the facts: a large ledger may take longer to read although the database answers.
      return await metrics.render({ facts, isDatabaseUp: database !== 'unreachable', nowMs: options.clock.now() })
    },
  }
  const limits = { requestTimeout: REQUEST_TIMEOUT_MS, connectionsCheckingInterval: REQUEST_TIMEOUT_MS / 6 }
  const server = createServer(limits, (request, response) => {
    void answerRequest(deps, request, response).catch(() => response.destroy())
  })
  server.maxConnections = MAX_CONNECTIONS
  const url = await listen(server, options.listen)
  options.log.info('http.listening', { url })
  return {
    /** The server's address, with the port that it listens on. */
    url,
    /** Counts a call that this process made to the service. */
    onCall: metrics.onCall,
    [Symbol.asyncDispose]: async () => {
      if (!server.listening) return
      const closed = server[Symbol.asyncDispose]()
      server.closeAllConnections()
      await closed
    },
  }
}

/** How long an answer of `/readyz` is reused, as anyone may request it. */
const READINESS_REUSE_MS = 1000

/** Asks the database for its state, at most once a second, and waits 3 seconds for the answer. Never throws. */
function createReadiness({ db, clock }: { readonly db: Db; readonly clock: Clock }): () => Promise<Readiness> {
  let last: { readonly answer: Promise<Readiness>; readonly atMs: number } | undefined
  return async () => {
    const now = clock.now()
    if (last === undefined || Math.abs(now - last.atMs) >= READINESS_REUSE_MS)
      last = { answer: within(clock, ANSWER_TIMEOUT_MS, readReadiness(db), notReady), atMs: now }
    return await last.answer
  }
}

async function listen(server: Server, { host, port }: StatusServerOptions['listen']): Promise<string> {
  server.listen(port, host)
  const name = isIPv6(host) ? `[${host}]` : host
  try {
    await once(server, 'listening')
  } catch (cause) {
    const advice = 'it should be an address of this machine with a free port, such as 127.0.0.1:8788'
    const problem = `LIVEHOUSE_HTTP is ${name}:${port}, where livehouse cannot listen (${messageOf(cause)}); ${advice}`
    throw new LivehouseError('config.invalid', 'the status page cannot listen', { problems: [problem] }, { cause })
  }
  const address = server.address()
  return `http://${name}:${typeof address === 'object' && address !== null ? address.port : port}`
}
