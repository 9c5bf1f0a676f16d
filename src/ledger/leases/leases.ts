import { hostname } from 'node:os'
import { type ExpressionBuilder, type RawBuilder, sql } from 'kysely'
import { callIfStillRunning, orAborted } from '../../core/clock.ts'
import { LivehouseError } from '../../core/errors.ts'
import { type Partition, partitionKey, partitionLease } from '../../core/slice.ts'
import type { Db } from '../../store/database.ts'
import { now, type Ops, ops } from '../ops.ts'

/**
 * `expiresMs`: how long after its last renewal a lease expires, by the database's clock. `hasOwnConnection`: renewals
 * have a connection to themselves and wait for no other work; without it, they take one from the pool each time.
 */
const DEFAULTS = { renewMs: 5000, expiresMs: 20_000, hasOwnConnection: true }

/** A lease of this process, valid while its row has this epoch, on this server. */
interface HeldLease {
  readonly name: string
  readonly epoch: string
  readonly server: Date
  readonly lost: AbortController
}

interface TakeOptions {
  /** Takes the lease only if no other process wants it, and does not mark it as wanted. Default: false. */
  readonly yieldsToOthers?: boolean
  /** The transaction to take it in. Call `startRenewing` after the commit, so that the lease is renewed. */
  readonly db?: Db
  /** The run that the lease is for; the page of that run shows it. */
  readonly forRun?: string | null
}

/**
 * The leases of one run or job: rows of `livehouse_ops.leases`, each with one holder at a time among all processes of
 * the database. They are renewed on a connection of their own. A lease that is not renewed expires by the database's
 * clock, and another process may take it. Each transaction of the holder ends with `require`, so a holder that has lost
 * its lease, perhaps while it was suspended, commits nothing. No session holds a lock, so leases work behind a pooler.
 */
export class Leases implements AsyncDisposable {
  readonly #db: Db
  readonly #options: typeof DEFAULTS
  readonly #held = new Map<string, HeldLease>()
  /** The leases to renew, shared with the objects made by `createSharing`. */
  readonly #leasesToRenew: Set<HeldLease>
  readonly #closed = new AbortController()
  readonly #renewing: Promise<void>
  /** The start time of the server that was last seen. */
  #server: Date | undefined

  constructor(db: Db, options: Partial<typeof DEFAULTS> = {}, shared?: Leases) {
    this.#db = db
    this.#options = { ...DEFAULTS, ...options }
    this.#leasesToRenew = shared ? shared.#leasesToRenew : new Set()
    this.#renewing = shared ? Promise.resolve() : this.#renewUntilClosed()
  }

  /** Creates a further set of leases, renewed on the same connection until this set is closed. */
  createSharing(): Leases {
    return new Leases(this.#db, this.#options, this)
  }

  /**
   * Takes a lease without waiting. If another process has it, marks it as wanted, unless `yieldsToOthers`.
   * @returns a signal that aborts with lease.lost when the lease is lost; undefined if another process has it
   */
  async tryTake(
    name: string,
    { yieldsToOthers = false, db = this.#db, forRun = null }: TakeOptions = {},
  ): Promise<AbortSignal | undefined> {
    const lease = { holder: thisProcess(), takenAt: now, renewedAt: now, expiresAt: this.#expiry(), forRun }
    const row = await ops(db)
      .insertInto('leases')
      .values({ name, ...lease })
      .onConflict((conflict) =>
        conflict
          .column('name')
          .doUpdateSet((eb) => ({ ...lease, epoch: eb.ref('excluded.epoch'), wantedUntil: null }))
          // A lease that expires later than any can was renewed before the database's clock was set back.
          .where((eb) => eb.not(eb.between('leases.expiresAt', now, this.#expiry(2))))
          .$call((update) => (yieldsToOthers ? update.where(this.#isUnwanted) : update)),
      )
      .returning(({ fn }) => ['epoch', fn<Date>('pg_postmaster_start_time').as('server')])
      .executeTakeFirst()
    if (row !== undefined) {
      const heldLease = { name, ...row, lost: new AbortController() }
      this.#server ??= heldLease.server
      this.#held.set(name, heldLease)
      if (db === this.#db) this.#leasesToRenew.add(heldLease)
      return heldLease.lost.signal
    }
    if (!yieldsToOthers) await this.markWanted(name, db)
    return undefined
  }

  /** Starts to renew a lease, after the commit of the transaction that took it: until then its row cannot be found. */
  startRenewing(name: string): void {
    const held = this.#held.get(name)
    if (held !== undefined) this.#leasesToRenew.add(held)
  }

  /** Marks a lease as wanted. @returns false if no process holds it */
  async markWanted(name: string, db = this.#db): Promise<boolean> {
    const held = ops(db).updateTable('leases').where('name', '=', name).where('expiresAt', '>', now)
    return (await held.set({ wantedUntil: this.#expiry() }).returning('name').execute()).length > 0
  }

  /** Whether this process holds a lease, as far as it knows; `require` asks the database. */
  holds(name: string): boolean {
    return this.#held.get(name)?.lost.signal.aborted === false
  }

  /** Whether another process has recently marked a lease as wanted. */
  async isWanted(name: string): Promise<boolean> {
    const leases = ops(this.#db).selectFrom('leases').select('name').where('name', '=', name)
    return (await leases.where((eb) => eb.not(this.#isUnwanted(eb))).execute()).length > 0
  }

  /**
   * Checks and locks the row of a lease, so that no other process takes it before the commit; the last statement of a
   * transaction. No lease outlives its server: after a failover, the new one may lack what was committed last.
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

  /** `require` for the lease of a stream's partition, bound so that it can be passed on. */
  readonly requirePartition = async (trx: Db, stream: string, partition: Partition): Promise<void> =>
    await this.require(trx, partitionLease({ stream, partition: partitionKey(partition) }))

  /** Whether the server has been replaced or restarted since the first lease, or since the last call of this. */
  async isServerReplaced(): Promise<boolean> {
    const before = this.#server
    const start = ops(this.#db).selectNoFrom(({ fn }) => fn<Date>('pg_postmaster_start_time').as('server'))
    this.#server = (await start.executeTakeFirstOrThrow()).server
    return before !== undefined && Number(before) !== Number(this.#server)
  }

  async release(name: string): Promise<void> {
    const held = this.#held.get(name)
    this.#held.delete(name)
    if (held !== undefined) await this.#deleteRows([held])
  }

  /** Releases all leases. Never throws: a lease that cannot be released expires. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed.abort()
    await this.#renewing
    const held = [...this.#held.values()]
    this.#held.clear()
    if (held.length > 0) await this.#deleteRows(held).catch(() => {})
  }

  /**
   * Deletes the rows. Those of wanted leases expire instead, so that this process cannot take them again before the
   * process that waits; they get a new epoch, so that a renewal in flight does not find them.
   */
  async #deleteRows(held: readonly HeldLease[]): Promise<void> {
    for (const each of held) this.#leasesToRenew.delete(each)
    const epochs = held.map(({ epoch }) => epoch)
    const deleted = await ops(this.#db)
      .deleteFrom('leases')
      .where('epoch', 'in', epochs)
      .where(this.#isUnwanted)
      .returning('epoch')
      .execute()
    if (deleted.length === epochs.length) return
    const wantedRows = ops(this.#db).updateTable('leases').set({ expiresAt: now, epoch: sql`default` })
    await wantedRows.where('epoch', 'in', epochs).execute()
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
        // The connection is lost: the next round takes another one. If a lease expires meanwhile, `require` fails.
        await this.#pause()
      }
    }
  }

  async #renew(connection: Db): Promise<void> {
    const leases = [...this.#leasesToRenew]
    if (leases.length === 0) return
    const epochs = leases.map(({ epoch }) => epoch)
    const rowsToRenew = ops(connection).updateTable('leases').where('epoch', 'in', epochs)
    const rows = await rowsToRenew.set({ renewedAt: now, expiresAt: this.#expiry() }).returning('epoch').execute()
    const renewed = new Set(rows.map(({ epoch }) => epoch))
    for (const held of leases) {
      if (!renewed.has(held.epoch)) this.#lose(held, leaseLost(held.name, undefined))
    }
  }

  /** Marks a lease as lost, unless it has been released. */
  #lose(held: HeldLease, error: LivehouseError): void {
    if (this.#leasesToRenew.delete(held)) held.lost.abort(error)
  }

  /** A mark that expires later than any can was made before the database's clock was set back, and is ignored. */
  readonly #isUnwanted = (eb: ExpressionBuilder<Ops, 'leases'>) =>
    eb('leases.wantedUntil', 'is', null).or(eb.not(eb.between('leases.wantedUntil', now, this.#expiry(2))))

  #expiry(times = 1): RawBuilder<Date> {
    // The builder knows no intervals.
    return sql`clock_timestamp() + make_interval(secs => ${(times * this.#options.expiresMs) / 1000})`
  }

  /** Waits until the next renewal is due. @returns false as soon as the leases are closed */
  async #pause(): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const cancelTimer = callIfStillRunning(this.#options.renewMs, resolve)
    await orAborted(promise, this.#closed.signal).catch(() => {})
    cancelTimer()
    return !this.#closed.signal.aborted
  }
}

/** The name that operators see for this process, such as `host-1 process 123`. */
export function thisProcess(): string {
  return `${hostname()} process ${process.pid}`
}

function leaseLost(name: string, holder: string | undefined): LivehouseError<'lease.lost'> {
  const why = holder === undefined ? 'it was not renewed in time, or the server changed' : `${holder} has taken it`
  const message = `${name} is no longer held by this process: ${why}. Uncommitted rows are not written.`
  return new LivehouseError('lease.lost', message, {})
}
