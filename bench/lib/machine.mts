import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { startStallingProxy } from '../../test/helpers/stalling-proxy.ts'
import { holderOf, startWorker, type Worker } from './worker.mts'

/** How many starts of a worker in a row may fail, because the database may be down. */
const MOST_STARTS = 60
const RETRY_MS = 1000

export interface MachineOptions {
  readonly environment: Readonly<Record<string, string>>
  /** How many partitions a worker reads at once. */
  readonly concurrency: number
  /** Where the logs of its workers go. */
  readonly folder: string
  readonly signal: AbortSignal
}

/** A worker that reaches database and service through proxies of its own. */
export interface Machine {
  /** The name as a holder of leases of each worker it has had, by the application name of the worker's connections. */
  readonly holders: ReadonlyMap<string, string>
  /** The current worker's name as a holder of leases. */
  readonly holder: () => string
  /** Kills the worker and starts another. */
  readonly replace: () => Promise<void>
  /** Stops the worker. @returns a function that resumes it */
  readonly freeze: () => () => void
  /** Stalls connections but keeps them open. @returns a function that ends them, so that new ones work */
  readonly cutDatabase: () => () => void
  readonly cutService: () => () => void
  /** Kills the worker. @returns an error for each worker that ended by itself */
  readonly end: () => Promise<readonly string[]>
}

/** @param number its number among the machines */
export async function startMachine(number: number, options: MachineOptions): Promise<Machine> {
  const { environment, concurrency, folder, signal } = options
  const database = await startStallingProxy(environment.DATABASE_URL ?? '')
  const service = await startStallingProxy(environment.LIVEHOUSE_BASE_URL ?? '')
  const holders = new Map<string, string>()
  const killed = new Set<Worker>()
  const failures: string[] = []
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
      worker.ended.catch((error: unknown) => killed.has(worker) || failures.push(`${name}: ${String(error)}`))
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
  const cut = (proxy: typeof database) => () => {
    proxy.stall()
    return proxy.reconnect
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
      for (const proxy of [database, service]) await proxy[Symbol.asyncDispose]()
      log.end()
      return failures
    },
  }
}
