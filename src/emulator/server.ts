import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { type Clock, systemClock } from '../core/clock.ts'
import { LivehouseError } from '../core/errors.ts'
import { floorToMinute, wallTimeAt } from '../core/wall-clock.ts'
import { type Conditions, createDayBudget, createRateLimit, defaultConditions } from './conditions.ts'
import { type ClientSettings, createCredentials } from './credentials.ts'
import { AUTH_PREFIX, dispatch } from './dispatch.ts'
import type { Service } from './endpoint.ts'
import { type PageCache, readRequest, respond } from './http.ts'
import { defaultSwitches, type Switches } from './switches.ts'
import { readTruth, type Truth } from './truth.ts'
import { createWorld, type WorldOptions } from './world/create-world.ts'
import { createRandom } from './world/random.ts'
import type { World } from './world/world.ts'

type Optional<Options> = { readonly [Name in keyof Options]?: Options[Name] | undefined }

/** Options of the emulator. The same seed, counts and minute of the clock give the same world. */
export interface EmulatorOptions extends Optional<ClientSettings & Omit<WorldOptions, 'endsAt'>> {
  /** A port of the loopback interface; 0, the default, takes a free one. */
  readonly port?: number | undefined
  readonly conditions?: Partial<Conditions> | undefined
  readonly switches?: Partial<Switches> | undefined
  readonly clock?: Clock | undefined
  /** Caches rendered pages, for benchmarks; by default nothing is cached. */
  readonly pages?: PageCache | undefined
  /** Served in place of a generated world. */
  readonly world?: World | undefined
}

/** A running emulator. Disposing of it closes its connections, including those that still wait for an answer. */
export type Emulator = Awaited<ReturnType<typeof startEmulator>>

/** Longer than clients keep idle connections, so that the server closes none while a call is on its way. */
const KEEP_ALIVE_MS = 120_000

/**
 * Serves the whole interface of the spec on a loopback port.
 * @throws LivehouseError `usage.invalid` when the port is taken.
 */
export async function startEmulator(options: EmulatorOptions = {}) {
  const { seed = 1, channels = 10, viewers = 1000, days = 30, timeZone = 'Asia/Shanghai' } = options
  const { appId = 'emulator-app', appSecret = 'emulator-secret', apiToken = 'emulator-token' } = options
  const { clock: baseClock = systemClock, tokenSeconds = 7200, pages = (_key, render) => render() } = options
  const conditions: Conditions = { ...defaultConditions, ...options.conditions }
  const switches: Switches = { ...defaultSwitches, ...options.switches }
  const clock: Clock = { now: () => baseClock.now() + conditions.clockAheadMs, sleep: baseClock.sleep }
  const endsAt = floorToMinute(wallTimeAt(clock.now(), timeZone))
  const { world = createWorld({ seed, channels, viewers, days, endsAt, timeZone }) } = options
  const client = { appId, appSecret, apiToken, tokenSeconds }
  const service: Service = {
    ...client,
    world,
    switches,
    clock,
    conditions,
    credentials: createCredentials(client, switches, clock),
    admitsCall: createRateLimit(conditions, clock),
    admitsV1Call: createDayBudget(clock, timeZone),
    faults: [],
    calls: [],
  }
  const stop = new AbortController()
  const random = createRandom(seed, 'jitter')
  /** @param signal aborts when the client disconnects or the emulator stops */
  const answerRequest = async (request: IncomingMessage, response: ServerResponse, signal: AbortSignal) => {
    const wait = async (ms: number) => {
      if (ms > 0) await clock.sleep(ms, signal)
    }
    const incoming = await readRequest(request)
    const { latencyMs, jitterMs } = conditions
    await wait(jitterMs === 0 ? latencyMs : latencyMs + (2 * random.next() - 1) * jitterMs)
    const { answer, call } = dispatch(incoming, service)
    if (answer.body.kind === 'list') await wait(((call.page ?? 1) - 1) * conditions.deepPageMs)
    const isSilent = answer.delivery.kind === 'hang' || answer.delivery.kind === 'reset'
    // Clients request `/` only for its `Date` header: it is not recorded as a call.
    const isFrontPage = incoming.path === '/'
    if (!isFrontPage) service.calls.push({ ...call, status: isSilent ? 0 : answer.status, at: clock.now() })
    response.sendDate = conditions.tellsTime
    if (conditions.tellsTime)
      response.setHeader('date', new Date(clock.now() - (isFrontPage ? conditions.frontPageAgeMs : 0)).toUTCString())
    respond(response, answer, pages)
  }
  const server = createServer((request, response) => {
    const disconnect = new AbortController()
    response.once('close', () => void (response.writableFinished || disconnect.abort()))
    const signal = AbortSignal.any([disconnect.signal, stop.signal])
    void answerRequest(request, response, signal).catch(() => response.destroy())
  })
  server.keepAliveTimeout = KEEP_ALIVE_MS
  const baseUrl = await listen(server, options.port ?? 0)
  return {
    ...service,
    baseUrl,
    authUrl: baseUrl + AUTH_PREFIX,
    channelIds: [...world.channels.keys()],
    /** What the warehouse must hold after a sync with the world as it is now. */
    truth: (): Truth => readTruth(world, switches, wallTimeAt(clock.now(), timeZone)),
    [Symbol.asyncDispose]: async () => {
      if (!server.listening) return
      stop.abort()
      const closed = server[Symbol.asyncDispose]()
      server.closeAllConnections()
      await closed
    },
  }
}

async function listen(server: Server, port: number): Promise<string> {
  server.listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
  } catch (cause) {
    const problem = `--port ${port}: cannot listen there; give another port, or 0 for a free one`
    throw new LivehouseError('usage.invalid', problem, { problems: [problem] }, { cause })
  }
  const address = server.address()
  return `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : port}`
}
