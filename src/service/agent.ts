import type { EnvHttpProxyAgent } from 'undici'
import methods from 'undici/lib/api/index.js'
import Dispatcher from 'undici/lib/dispatcher/dispatcher.js'
import Agent from 'undici/lib/dispatcher/env-http-proxy-agent.js'

// What undici's own index does. The index also loads fetch, web sockets, caches and mocks: 50 ms of every start.
Object.assign(Dispatcher.prototype, methods)

/** Connections to every host that is asked, with `request`. undici, without those parts of it that nobody uses here. */
export function createAgent(options: EnvHttpProxyAgent.Options): EnvHttpProxyAgent {
  return new Agent(options)
}
