import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { isIPv6 } from 'node:net'
import { type Clock, within } from '../core/clock.ts'
import { LivehouseError, messageOf } from '../core/errors.ts'
import { createAccess } from './access.ts'
import { type Answering, answerRequest } from './answer-request.ts'
import { readAssets } from './assets.ts'
import { createStatusMetrics } from './metrics.ts'
import { makePage } from './pages.ts'
import { createFactsSource, type FactsDeps, LONGEST_ANSWER_MS } from './facts.ts'
import type { OperatorActions } from '../app/operator-actions.ts'
import { notReady, type Readiness, readReadiness } from '../app/read-health.ts'
import type { Db } from '../store/database.ts'

/** What the status server shows, and to whom. */
export interface StatusServerOptions extends FactsDeps, Pick<Answering, 'language' | 'version'> {
  /** `LIVEHOUSE_HTTP`; port 0 takes a free one. */
  readonly listen: { readonly host: string; readonly port: number }
  /** `LIVEHOUSE_HTTP_TOKEN`; undefined on loopback alone. */
  readonly token: string | undefined
  /** What can be done from the page, behind the token; nothing when not given. */
  readonly actions?: OperatorActions
}

/** A running status server; disposing of it ends its connections. */
export type StatusServer = Awaited<ReturnType<typeof startStatusServer>>

const MOST_CONNECTIONS = 500
/** A connection that has not sent its whole request by then is closed: 500 idle ones would shut out health checks. */
const LONGEST_REQUEST_MS = 3000

/**
 * Serves the status page, `/healthz`, `/readyz` and `/metrics`.
 * @throws LivehouseError `config.invalid` where it cannot listen
 */
export async function startStatusServer(options: StatusServerOptions) {
  const { clock, log } = options
  const assets = await readAssets()
  const metrics = createStatusMetrics(options.version)
  const readFacts = createFactsSource(options)
  const askReadiness = createReadiness(options)
  const answering = {
    ...options,
    access: createAccess(options.token, options),
    assets,
    makePage: makePage.bind(undefined, { ...options, readFacts }),
    readReadiness: askReadiness,
    renderMetrics: async () => {
      const [{ facts }, { database }] = await Promise.all([readFacts(LONGEST_ANSWER_MS), askReadiness()])
      // A large ledger may take longer to read although the database answers.
      return await metrics.render({ facts, isDatabaseUp: database !== 'unreachable', nowMs: clock.now() })
    },
  }
  const limits = { requestTimeout: LONGEST_REQUEST_MS, connectionsCheckingInterval: LONGEST_REQUEST_MS / 6 }
  const server = createServer(limits, (request, response) => {
    void answerRequest(answering, request, response).catch(() => response.destroy())
  })
  server.maxConnections = MOST_CONNECTIONS
  const url = await listen(server, options.listen)
  log.info('http.listening', { url })
  return {
    /** With the port that it has. */
    url,
    /** To be called for each call that this process makes to the service. */
    onCall: metrics.onCall,
    [Symbol.asyncDispose]: async () => {
      if (!server.listening) return
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

/** A state of the database is kept for so long, as the path is open to all. */
const KEPT_MS = 1000

/** Asks the database each time, but no more than once a second, and gives it 3 seconds. Never throws. */
function createReadiness({ db, clock }: { readonly db: Db; readonly clock: Clock }): () => Promise<Readiness> {
  let last: { readonly answer: Promise<Readiness>; readonly atMs: number } | undefined
  return async () => {
    const now = clock.now()
    if (last === undefined || now - last.atMs >= KEPT_MS)
      last = { answer: within(clock, LONGEST_ANSWER_MS, readReadiness(db), notReady), atMs: now }
    return await last.answer
  }
}

async function listen(server: Server, { host, port }: StatusServerOptions['listen']): Promise<string> {
  server.listen(port, host)
  const shown = isIPv6(host) ? `[${host}]` : host
  try {
    await once(server, 'listening')
  } catch (cause) {
    const expected = 'it should be an address of this machine with a free port, such as 127.0.0.1:8788'
    const problem = `LIVEHOUSE_HTTP is ${shown}:${port}, where it cannot listen (${messageOf(cause)}); ${expected}`
    throw new LivehouseError('config.invalid', 'the status page cannot listen', { problems: [problem] }, { cause })
  }
  const address = server.address()
  return `http://${shown}:${typeof address === 'object' && address !== null ? address.port : port}`
}
