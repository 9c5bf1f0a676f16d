import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { startStallingProxy } from '../../test/helpers/stalling-proxy.ts'
import { holderOf, startWorker, type Worker } from './worker.mts'

/** Starts of a worker in a row that may fail: the database may be away. */
const MOST_STARTS = 60
const RETRY_MS = 1000

export interface MachineOptions {
  readonly environment: Readonly<Record<string, string>>
  /** Partitions side by side. */
  readonly concurrency: number
  /** Gets what its workers log. */
  readonly folder: string
  readonly signal: AbortSignal
}

/** A worker with connections of its own to database and service. */
export interface Machine {
  /** Holder of leases by the name under which the database knows its connections, for each worker it has had. */
  readonly holders: ReadonlyMap<string, string>
  /** Of the worker that it has now. */
  readonly holder: () => string
  /** Kills the worker, and starts another. */
  readonly replace: () => Promise<void>
  /** @returns lets it go on */
  readonly freeze: () => () => void
  /** Connections stay open and carry nothing. @returns ends them; new ones work */
  readonly cutDatabase: () => () => void
  readonly cutService: () => () => void
  /** Ends it. @returns what was said by workers that ended by themselves */
  readonly end: () => Promise<readonly string[]>
}

/** @param number its number among the machines */
export async function startMachine(number: number, options: MachineOptions): Promise<Machine> {
  const { environment, concurrency, folder, signal } = options
  const database = await startStallingProxy(environment.DATABASE_URL ?? '')
  const service = await startStallingProxy(environment.LIVEHOUSE_BASE_URL ?? '')
  const holders = new Map<string, string>()
  const killed = new Set<Worker>()
  const ends: string[] = []
  const log = createWriteStream(join(folder, `worker-${number}.log`))

  const start = async (failed = 0): Promise<Worker> => {
    const name = `worker ${number}.${holders.size + 1}`
    const url = new URL(database.url)
    url.searchParams.set('application_name', name)
    const env = { ...environment, DATABASE_URL: url.href, HTTP_PROXY: service.url }
    try {
      const worker = await startWorker({ signal, env }, concurrency)
      holders.set(name, holderOf(worker))
      worker.process.stderr?.pipe(log, { end: false })
      worker.ended.catch((error: unknown) => killed.has(worker) || ends.push(`${name}: ${String(error)}`))
      return worker
    } catch (error) {
      signal.throwIfAborted()
      if (failed >= MOST_STARTS) throw error
      await delay(RETRY_MS)
      return await start(failed + 1)
    }
  }
  let worker = await start()
  const kill = async () => {
    killed.add(worker)
    worker.process.kill('SIGKILL')
    await worker.ended.catch(() => {})
  }
  const cut = (way: typeof database) => () => {
    way.stall()
    return way.goOn
  }
  return {
    holders,
    holder: () => holderOf(worker),
    replace: async () => {
      await kill()
      worker = await start()
    },
    freeze: () => {
      const { process } = worker
      process.kill('SIGSTOP')
      return () => void process.kill('SIGCONT')
    },
    cutDatabase: cut(database),
    cutService: cut(service),
    end: async () => {
      await kill()
      for (const way of [database, service]) await way[Symbol.asyncDispose]()
      log.end()
      return ends
    },
  }
}
