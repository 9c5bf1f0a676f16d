import { hostname } from 'node:os'
import { type ExpressionBuilder, type RawBuilder, sql } from 'kysely'
import { callIfStillRunning, orAborted } from '../../core/clock.ts'
import { LivehouseError } from '../../core/errors.ts'
import { type Partition, partitionKey, partitionLease } from '../../core/slice.ts'
import type { Db } from '../../store/database.ts'
import { now, type Ops, ops } from '../ops.ts'

/**
 * `expiresMs`: how long after its last renewal a lease expires, by the database's clock. `hasOwnConnection`: renewing
 * waits for no other work. Without it, nothing is held of a pool that may have no second connection.
 */
const DEFAULTS = { renewMs: 5000, expiresMs: 20_000, hasOwnConnection: true }

/** A lease of this process, as long as its row has this epoch, on this server. */
interface Held {
  readonly name: string
  readonly epoch: string
  readonly server: Date
  readonly lost: AbortController
}

interface TakeOptions {
  /** Takes it only where no other process wants it, and does not mark it as wanted; false when not given. */
  readonly yieldsToOthers?: boolean
  /** A transaction that it is to be part of; `keep` has it renewed once that is committed. */
  readonly db?: Db
  /** The run that it is taken for, shown on the page of that run. */
  readonly forRun?: string | null
}

/**
 * The leases of one run or job: rows of `livehouse_ops.leases`, each with one holder at a time among all processes of
 * the database. They are renewed on a connection of their own; one that is not renewed expires, by the database's
 * clock, and another holder may take it. Each transaction of the holder ends with `require`: one that has lost its
 * lease, perhaps while its process was stopped, commits nothing. No session holds a lock: leases work behind a pooler.
 */
export class Leases implements AsyncDisposable {
  readonly #db: Db
  readonly #options: typeof DEFAULTS
  readonly #held = new Map<string, Held>()
  /** Shared with the objects that `another` made: their leases are renewed together. */
  readonly #renewed: Set<Held>
  readonly #closed = new AbortController()
  readonly #renewing: Promise<void>
  /** When the server started that was there at last. */
  #server: Date | undefined

  constructor(db: Db, options: Partial<typeof DEFAULTS> = {}, shared?: Leases) {
    this.#db = db
    this.#options = { ...DEFAULTS, ...options }
    this.#renewed = shared ? shared.#renewed : new Set()
    this.#renewing = shared ? Promise.resolve() : this.#renewUntilClosed()
  }

  /** Further leases of this process, renewed on the same connection until these here are closed. */
  another(): Leases {
    return new Leases(this.#db, this.#options, this)
  }

  /**
   * Takes a lease, without waiting. One that another process has is marked as wanted, unless `yieldsToOthers`.
   * @returns a signal that aborts with lease.lost when it is no longer ours; undefined while another has it
   */
  async tryTake(
    name: string,
    { yieldsToOthers = false, db = this.#db, forRun = null }: TakeOptions = {},
  ): Promise<AbortSignal | undefined> {
    const taken = { holder: thisProcess(), takenAt: now, renewedAt: now, expiresAt: this.#expiry(), forRun }
    const row = await ops(db)
      .insertInto('leases')
      .values({ name, ...taken })
      .onConflict((conflict) =>
        conflict
          .column('name')
          .doUpdateSet((eb) => ({ ...taken, epoch: eb.ref('excluded.epoch'), wantedUntil: null }))
          // One that ends later than any can was renewed before the database's clock was set back.
          .where((eb) => eb.not(eb.between('leases.expiresAt', now, this.#expiry(2))))
          .$call((update) => (yieldsToOthers ? update.where(this.#isUnwanted) : update)),
      )
      .returning(({ fn }) => ['epoch', fn<Date>('pg_postmaster_start_time').as('server')])
      .executeTakeFirst()
    if (row !== undefined) {
      const held = { name, ...row, lost: new AbortController() }
      this.#server ??= held.server
      this.#held.set(name, held)
      if (db === this.#db) this.#renewed.add(held)
      return held.lost.signal
    }
    if (!yieldsToOthers) await this.markWanted(name, db)
    return undefined
  }

  /** Renews a lease that was taken in a transaction, from its commit on: before, no renewal would find its row. */
  keep(name: string): void {
    const held = this.#held.get(name)
    if (held !== undefined) this.#renewed.add(held)
  }

  /** Marks a lease as wanted. @returns false where no process holds it */
  async markWanted(name: string, db = this.#db): Promise<boolean> {
    const held = ops(db).updateTable('leases').where('name', '=', name).where('expiresAt', '>', now)
    return (await held.set({ wantedUntil: this.#expiry() }).returning('name').execute()).length > 0
  }

  /** Whether it is ours, as far as is known here: `require` asks the database. */
  holds(name: string): boolean {
    return this.#held.get(name)?.lost.signal.aborted === false
  }

  /** Whether another process has marked it as wanted lately. */
  async isWanted(name: string): Promise<boolean> {
    const leases = ops(this.#db).selectFrom('leases').select('name').where('name', '=', name)
    return (await leases.where((eb) => eb.not(this.#isUnwanted(eb))).execute()).length > 0
  }

  /**
   * As the last statement of a transaction: locks the row of the lease, so that it stays ours until the commit. No
   * lease outlives its server: one that takes its place may lack what was committed last.
   * @throws lease.lost
   */
  async require(trx: Db, name: string): Promise<void> {
    const held = this.#held.get(name)
    const row = await ops(trx)
      .selectFrom('leases')
      .select(({ eb, fn }) => ['holder', 'epoch', eb('expiresAt', '>', fn<Date>('clock_timestamp')).as('isInTime')])
      .select(({ fn }) => fn<Date>('pg_postmaster_start_time').as('server'))
      .where('name', '=', name)
      .forShare()
      .executeTakeFirst()
    const isOurs = held !== undefined && row?.epoch === held.epoch
    if (isOurs && row.isInTime && Number(row.server) === Number(held.server)) return
    const error = leaseLost(name, isOurs ? undefined : row?.holder)
    if (held !== undefined) this.#lose(held, error)
    throw error
  }

  /** `require` for the lease of a stream's partition, to be passed as a function. */
  readonly requirePartition = async (trx: Db, stream: string, partition: Partition): Promise<void> =>
    await this.require(trx, partitionLease({ stream, partition: partitionKey(partition) }))

  /** Whether another server has taken the place of that of the first lease, or of when this was last asked. */
  async isServerReplaced(): Promise<boolean> {
    const before = this.#server
    const start = ops(this.#db).selectNoFrom(({ fn }) => fn<Date>('pg_postmaster_start_time').as('server'))
    this.#server = (await start.executeTakeFirstOrThrow()).server
    return before !== undefined && Number(before) !== Number(this.#server)
  }

  async release(name: string): Promise<void> {
    const held = this.#held.get(name)
    this.#held.delete(name)
    if (held !== undefined) await this.#giveBack([held])
  }

  /** Gives all leases back. Never throws: a lease that cannot be given back expires. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed.abort()
    await this.#renewing
    const held = [...this.#held.values()]
    this.#held.clear()
    if (held.length > 0) await this.#giveBack(held).catch(() => {})
  }

  /**
   * Deletes the rows, but for those of wanted leases, which expire, so that this process cannot take them again first.
   * These get a new epoch, so that a renewal that is under way does not find them.
   */
  async #giveBack(held: readonly Held[]): Promise<void> {
    for (const each of held) this.#renewed.delete(each)
    const epochs = held.map(({ epoch }) => epoch)
    const gone = await ops(this.#db)
      .deleteFrom('leases')
      .where('epoch', 'in', epochs)
      .where(this.#isUnwanted)
      .returning('epoch')
      .execute()
    if (gone.length === epochs.length) return
    const kept = ops(this.#db).updateTable('leases').set({ expiresAt: now, epoch: sql`default` })
    await kept.where('epoch', 'in', epochs).execute()
  }

  async #renewUntilClosed(): Promise<void> {
    while (!this.#closed.signal.aborted) {
      try {
        const renew = async (connection: Db): Promise<void> => {
          do await this.#renew(connection)
          while (await this.#pause())
        }
        await (this.#options.hasOwnConnection ? this.#db.connection().execute(renew) : renew(this.#db))
      } catch {
        // The connection is lost; the next round takes another one. A lease that expires meanwhile fails at `require`.
        await this.#pause()
      }
    }
  }

  async #renew(connection: Db): Promise<void> {
    const before = [...this.#renewed]
    if (before.length === 0) return
    const epochs = before.map(({ epoch }) => epoch)
    const ours = ops(connection).updateTable('leases').where('epoch', 'in', epochs)
    const rows = await ours.set({ renewedAt: now, expiresAt: this.#expiry() }).returning('epoch').execute()
    const renewed = new Set(rows.map(({ epoch }) => epoch))
    for (const held of before) {
      if (!renewed.has(held.epoch)) this.#lose(held, leaseLost(held.name, undefined))
    }
  }

  /** A lease that was given back since is not lost. */
  #lose(held: Held, error: LivehouseError): void {
    if (this.#renewed.delete(held)) held.lost.abort(error)
  }

  /** A mark that ends later than any can was made before the database's clock was set back. */
  readonly #isUnwanted = (eb: ExpressionBuilder<Ops, 'leases'>) =>
    eb('leases.wantedUntil', 'is', null).or(eb.not(eb.between('leases.wantedUntil', now, this.#expiry(2))))

  #expiry(times = 1): RawBuilder<Date> {
    // The builder knows no intervals.
    return sql`clock_timestamp() + make_interval(secs => ${(times * this.#options.expiresMs) / 1000})`
  }

  /** Waits for the next renewal. @returns false as soon as the leases are closed */
  async #pause(): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const cancelTimer = callIfStillRunning(this.#options.renewMs, resolve)
    await orAborted(promise, this.#closed.signal).catch(() => {})
    cancelTimer()
    return !this.#closed.signal.aborted
  }
}

/** The name of this process for operators, such as `host-1 process 123`. */
export function thisProcess(): string {
  return `${hostname()} process ${process.pid}`
}

function leaseLost(name: string, holder: string | undefined): LivehouseError<'lease.lost'> {
  const why = holder === undefined ? 'it was not renewed in time, or its server ended' : `${holder} has taken it since`
  const message = `${name} is no longer held by this process: ${why}. What it had not committed is not written.`
  return new LivehouseError('lease.lost', message, {})
}
