import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { type Clock, systemClock } from '../core/clock.ts'
import { floorToMinute, wallTimeAt } from '../core/wall-clock.ts'
import { LivehouseError } from '../core/errors.ts'
import { type Conditions, createDayBudget, createRateLimit, depthDelayOf, latencyOf } from './conditions.ts'
import { createCredentials } from './credentials.ts'
import { AUTH_PREFIX, dispatch } from './dispatch.ts'
import type { Fault } from './faults.ts'
import { createPageCache, readRequest, respond } from './http.ts'
import type { RecordedCall, Service } from './service.ts'
import { defaultSwitches, type Switches } from './switches.ts'
import { answerTruth, readTruth, type Truth } from './truth.ts'
import { createWorld } from './world/create-world.ts'
import { createRandom, type Random } from './world/random.ts'
import type { World } from './world/world.ts'

export interface EmulatorOptions {
  /** Of the loopback interface; 0, the default, takes a free one. */
  readonly port?: number | undefined
  /** The world is the same for the same seed, numbers and minute of the clock. Default 1. */
  readonly seed?: number | undefined
  /** Default 10. */
  readonly channels?: number | undefined
  /** Per channel, default 1,000. */
  readonly viewers?: number | undefined
  /** How far the history goes back from the clock's now, default 30. */
  readonly days?: number | undefined
  /** Added to each answer, default 0. */
  readonly latencyMs?: number | undefined
  /** By how much that differs at most from call to call, default 0. */
  readonly jitterMs?: number | undefined
  /** By how much longer each page takes than the one before it, default 0. */
  readonly deepPageMs?: number | undefined
  /** Calls per second; more are refused with 429 and 429001. Default: no limit. */
  readonly rateLimit?: number | undefined
  /** Sent as `Retry-After` with such a refusal; without it the header is missing. */
  readonly retryAfterSeconds?: number | undefined
  readonly appId?: string | undefined
  readonly appSecret?: string | undefined
  /** The fixed bearer. */
  readonly apiToken?: string | undefined
  /** Validity of tokens of 4.1, default 7,200. */
  readonly tokenSeconds?: number | undefined
  readonly clock?: Clock | undefined
  /** Default `Asia/Shanghai`. */
  readonly timeZone?: string | undefined
  readonly switches?: Partial<Switches> | undefined
  /** How much of rendered pages is kept, so that reading them again is cheap; default 256 MiB. */
  readonly cacheBytes?: number | undefined
  /** In place of a generated one. */
  readonly world?: World | undefined
}

/** A running emulator; disposing of it closes its connections, also hanging ones. */
export interface Emulator extends AsyncDisposable {
  readonly baseUrl: string
  readonly authUrl: string
  readonly appId: string
  readonly appSecret: string
  readonly apiToken: string
  readonly channelIds: readonly string[]
  /** May be changed at any time. */
  readonly world: World
  /** May be changed at any time. */
  readonly switches: Switches
  /** May be changed at any time. */
  readonly conditions: Conditions
  /** A queue that may be changed at any time. */
  readonly faults: Fault[]
  readonly calls: readonly RecordedCall[]
  /** Ends every token of 4.1 at once. */
  readonly revokeTokens: () => void
  /** What the warehouse must hold of the world as it is now. */
  readonly truth: () => Truth
}

const V1_CALLS_PER_DAY = 10
/** Longer than any client keeps an idle connection, so that none is closed while a call is on its way. */
const KEEP_ALIVE_MS = 120_000

/**
 * Serves the whole interface of the spec on a loopback port.
 * @throws LivehouseError `usage.invalid` when the port is taken.
 */
export async function startEmulator(options: EmulatorOptions = {}): Promise<Emulator> {
  const { clock: given = systemClock, timeZone = 'Asia/Shanghai' } = options
  const conditions: Conditions = {
    latencyMs: options.latencyMs ?? 0,
    jitterMs: options.jitterMs ?? 0,
    deepPageMs: options.deepPageMs ?? 0,
    callsPerSecond: options.rateLimit,
    retryAfterSeconds: options.retryAfterSeconds,
    clockAheadMs: 0,
  }
  const clock: Clock = { now: () => given.now() + conditions.clockAheadMs, sleep: given.sleep }
  const {
    appId = 'emulator-app',
    appSecret = 'emulator-secret',
    apiToken = 'emulator-token',
    tokenSeconds = 7200,
  } = options
  const switches: Switches = { ...defaultSwitches, ...options.switches }
  const world =
    options.world ??
    createWorld({
      seed: options.seed ?? 1,
      channels: options.channels ?? 10,
      viewers: options.viewers ?? 1000,
      days: options.days ?? 30,
      endsAt: floorToMinute(wallTimeAt(clock.now(), timeZone)),
      timeZone,
    })
  const credentials = createCredentials({ appId, appSecret, apiToken, tokenSeconds }, switches, clock)
  const service: Service = {
    world,
    switches,
    clock,
    appId,
    tokenSeconds,
    conditions,
    credentials,
    admitsCall: createRateLimit(conditions, clock),
    admitsV1Call: createDayBudget(V1_CALLS_PER_DAY, clock, timeZone),
    faults: [],
    calls: [],
    cache: createPageCache(options.cacheBytes ?? 256 * 1024 * 1024),
  }
  const ended = new AbortController()
  const jitter = createRandom(options.seed ?? 1, 'jitter')
  const truth = () => readTruth(world, switches, wallTimeAt(clock.now(), timeZone))
  const server = createServer((request, response) => {
    const openSignal = () => {
      const gone = new AbortController()
      response.once('close', () => gone.abort())
      return AbortSignal.any([gone.signal, ended.signal])
    }
    void answerRequest(request, response, { service, truth, jitter, openSignal }).catch(() => response.destroy())
  })
  server.keepAliveTimeout = KEEP_ALIVE_MS
  const baseUrl = await listen(server, options.port ?? 0)
  return {
    baseUrl,
    authUrl: baseUrl + AUTH_PREFIX,
    appId,
    appSecret,
    apiToken,
    channelIds: [...world.channels.keys()],
    world,
    switches,
    conditions,
    faults: service.faults,
    calls: service.calls,
    revokeTokens: credentials.revokeTokens,
    truth,
    [Symbol.asyncDispose]: async () => {
      if (!server.listening) return
      ended.abort()
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

interface Means {
  readonly service: Service
  readonly truth: () => Truth
  readonly jitter: Random
  /** Opens what ends a wait: the client has gone or the emulator stops. */
  readonly openSignal: () => AbortSignal
}

async function answerRequest(
  request: IncomingMessage,
  response: ServerResponse,
  { service, truth, jitter, openSignal }: Means,
): Promise<void> {
  const { clock, cache, conditions, calls } = service
  const incoming = await readRequest(request)
  const shown = answerTruth(incoming.path, truth)
  if (shown) return respond(response, shown, { clock, cache })
  const latencyMs = latencyOf(conditions, jitter)
  if (latencyMs > 0) await clock.sleep(latencyMs, openSignal())
  const { answer, call } = dispatch(incoming, service)
  const depthMs = answer.body.kind === 'list' ? depthDelayOf(conditions, call.page) : 0
  if (depthMs > 0) await clock.sleep(depthMs, openSignal())
  const isSilent = answer.delivery.kind === 'hang' || answer.delivery.kind === 'reset'
  // The bare address is asked for no more than the time.
  if (incoming.path !== '/') calls.push({ ...call, status: isSilent ? 0 : answer.status, at: clock.now() })
  respond(response, answer, { clock, cache })
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
