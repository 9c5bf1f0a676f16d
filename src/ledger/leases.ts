import { hostname } from 'node:os'
import { type Kysely, type RawBuilder, sql } from 'kysely'
import { callIfStillRunning } from '../core/clock.ts'
import { LivehouseError } from '../core/errors.ts'
import type { Database } from '../store/database.ts'

export interface LeaseTimes {
  /** How often what is held is renewed. */
  readonly renewMs: number
  /** How long after that it is gone, by the database's clock. */
  readonly expiresMs: number
}

const TIMES: LeaseTimes = { renewMs: 5000, expiresMs: 20_000 }

/** What one lease is held with. */
interface Held {
  readonly epoch: string
  readonly lost: AbortController
}

/** A lease that somebody holds now. */
export interface HeldLease {
  readonly name: string
  /** Host and process. */
  readonly holder: string
  readonly since: Date
}

/** The lease of a stream's partition: one runner at a time. */
export function partitionLease(stream: string, partition: string): string {
  return `partition ${stream} ${partition}`
}

/**
 * The leases of one run or job: rows of `livehouse_ops.leases` that one holder has at a time, over all processes of the database.
 * They are renewed on a connection of their own; one that is not renewed expires, by the database's clock, and another may take
 * it. What a holder writes is committed only together with `require`: so nothing is written by one that has lost its lease, also
 * where its process was stopped meanwhile. No session has to last: they hold behind a pooler.
 */
export class Leases implements AsyncDisposable {
  readonly #db: Kysely<Database>
  readonly #times: LeaseTimes
  readonly #held = new Map<string, Held>()
  readonly #closed = new AbortController()
  readonly #renewing: Promise<void>

  constructor(db: Kysely<Database>, times: LeaseTimes = TIMES) {
    this.#db = db
    this.#times = times
    this.#renewing = this.#renewUntilClosed()
  }

  /**
   * Does not wait. A refused one says that it is wanted, but for a patient one, which lets those that want it go first.
   * @param isPatient not given: false @param db a transaction that it is to be part of
   * @returns a signal that aborts with lease.lost when it is no longer ours; undefined while another has it
   */
  async tryTake(name: string, { isPatient = false, db = this.#db } = {}): Promise<AbortSignal | undefined> {
    const isFree = isPatient ? sql`coalesce(lease.wanted_until <= now(), true)` : sql`true`
    const { rows } = await sql<{ epoch: string }>`
      insert into livehouse_ops.leases as lease (name, holder, taken_at, renewed_at, expires_at)
      values (${name}, ${thisProcess()}, now(), now(), ${this.#expiry()})
      on conflict (name) do update set holder = excluded.holder, epoch = excluded.epoch, taken_at = excluded.taken_at,
        renewed_at = excluded.renewed_at, expires_at = excluded.expires_at, wanted_until = null
      where lease.expires_at <= now() and ${isFree}
      returning epoch`.execute(db)
    const [row] = rows
    if (row !== undefined) {
      const lost = new AbortController()
      this.#held.set(name, { epoch: row.epoch, lost })
      return lost.signal
    }
    if (!isPatient) {
      await sql`update livehouse_ops.leases set wanted_until = ${this.#expiry()} where name = ${name}`.execute(db)
    }
    return undefined
  }

  /** Whether it is ours, as far as is known here: `require` asks the database. */
  holds(name: string): boolean {
    return this.#held.has(name)
  }

  /** Whether another has asked for it lately. */
  async isWanted(name: string): Promise<boolean> {
    const { rows } = await sql`
      select from livehouse_ops.leases where name = ${name} and wanted_until > now()`.execute(this.#db)
    return rows.length > 0
  }

  /**
   * Makes sure, as the last statement of a transaction that writes, that the lease is ours until it has been committed.
   * @throws lease.lost
   */
  async require(trx: Kysely<Database>, name: string): Promise<void> {
    const held = this.#held.get(name)
    const { rows } = await sql<{ holder: string; isOurs: boolean }>`
      select holder, epoch = ${held?.epoch ?? null}::bigint and expires_at > clock_timestamp() as "isOurs"
      from livehouse_ops.leases where name = ${name} for share`.execute(trx)
    const [row] = rows
    if (held !== undefined && row?.isOurs === true) return
    const error = leaseLost(name, row?.holder)
    this.#lose(name, held, error)
    throw error
  }

  /** Gives it back. One that was wanted keeps its row, so that who wants it comes before patient ones. */
  async release(name: string): Promise<void> {
    const epoch = this.#held.get(name)?.epoch
    this.#held.delete(name)
    if (epoch !== undefined) await giveBack(this.#db, sql`name = ${name} and epoch = ${epoch}`)
  }

  /** Gives everything back. Never throws: what cannot be given back expires. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed.abort()
    await this.#renewing
    const epochs = [...this.#held.values()].map(({ epoch }) => epoch)
    this.#held.clear()
    if (epochs.length > 0) await giveBack(this.#db, sql`epoch = any(${epochs}::bigint[])`).catch(() => {})
  }

  async #renewUntilClosed(): Promise<void> {
    while (!this.#closed.signal.aborted) {
      try {
        // A connection that is ours alone: however busy the others are, renewing never waits for one.
        await this.#db.connection().execute(async (connection) => {
          do await this.#renew(connection)
          while (await this.#pause())
        })
      } catch {
        // The connection is lost; the next round takes another one. What expires meanwhile is not written under.
        await this.#pause()
      }
    }
  }

  async #renew(connection: Kysely<Database>): Promise<void> {
    const before = [...this.#held]
    if (before.length === 0) return
    const { rows } = await sql<{ epoch: string }>`
      update livehouse_ops.leases set renewed_at = now(), expires_at = ${this.#expiry()}
      where (name, epoch) in (select * from unnest(${before.map(([name]) => name)}::text[],
        ${before.map(([, { epoch }]) => epoch)}::bigint[]))
      returning epoch`.execute(connection)
    const renewed = new Set(rows.map(({ epoch }) => epoch))
    for (const [name, held] of before) {
      if (!renewed.has(held.epoch)) this.#lose(name, held, leaseLost(name, undefined))
    }
  }

  #lose(name: string, held: Held | undefined, error: LivehouseError): void {
    if (held === undefined || this.#held.get(name) !== held) return
    this.#held.delete(name)
    held.lost.abort(error)
  }

  #expiry(): RawBuilder<Date> {
    return sql`clock_timestamp() + make_interval(secs => ${this.#times.expiresMs / 1000})`
  }

  /** @returns false as soon as all is closed */
  async #pause(): Promise<boolean> {
    const { signal } = this.#closed
    const { promise, resolve } = Promise.withResolvers<void>()
    const callOff = callIfStillRunning(this.#times.renewMs, resolve)
    signal.addEventListener('abort', () => resolve(), { once: true })
    if (!signal.aborted) await promise
    callOff()
    return !signal.aborted
  }
}

/** What is held now, the oldest first. */
export async function readLeases(db: Kysely<Database>): Promise<readonly HeldLease[]> {
  const { rows } = await sql<HeldLease>`
    select name, holder, taken_at as since from livehouse_ops.leases where expires_at > now()
    order by taken_at, name`.execute(db)
  return rows
}

/** A new epoch, so that a renewal on its way finds nothing; in a statement of its own, which sees what is wanted by now. */
async function giveBack(db: Kysely<Database>, which: RawBuilder<unknown>): Promise<void> {
  const { rows } = await sql<{ name: string }>`
    update livehouse_ops.leases set expires_at = now(), epoch = default where ${which} returning name`.execute(db)
  await sql`
    delete from livehouse_ops.leases where name = any(${rows.map(({ name }) => name)}::text[]) and expires_at <= now()
      and coalesce(wanted_until <= now(), true)`.execute(db)
}

/** Among all that share a database, for people. */
export function thisProcess(): string {
  return `${hostname()} process ${process.pid}`
}

function leaseLost(name: string, holder: string | undefined): LivehouseError<'lease.lost'> {
  const why = holder === undefined ? 'it was not renewed in time' : `${holder} has taken it since`
  const message = `${name} is no longer held by this process: ${why}. What it had not committed is not written.`
  return new LivehouseError('lease.lost', message, { name })
}
