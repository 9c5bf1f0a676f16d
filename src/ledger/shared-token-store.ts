import { createCipheriv, createDecipheriv, randomBytes, scrypt } from 'node:crypto'
import { type Kysely, sql } from 'kysely'
import { z } from 'zod'
import type { Clock } from '../core/clock.ts'
import type { Database } from '../store/database.ts'
import { makeName, tryLockName } from '../store/lock-name.ts'

/** A fetched token; instants in milliseconds since 1970. */
export interface SharedToken {
  readonly value: string
  readonly issuedAtMs: number
  readonly expiresAtMs: number
}

/** The one token of an application. */
export interface SharedTokenShelf {
  readonly read: (signal: AbortSignal) => Promise<SharedToken | undefined>
  readonly write: (token: SharedToken, signal: AbortSignal) => Promise<void>
}

/** The shelf, and a way to be alone with it. */
export interface SharedTokenStore extends SharedTokenShelf {
  /** Runs `work` for one caller at a time among all processes of the database. */
  readonly exclusively: <T>(work: (shelf: SharedTokenShelf) => Promise<T>, signal: AbortSignal) => Promise<T>
}

export interface SharedTokenOptions {
  readonly authUrl: string
  readonly appId: string
  readonly appSecret: string
  readonly clock: Clock
}

const POLL_MS = 50
const LOCK = 'access token'

const tokenSchema = z.object({ value: z.string(), issuedAtMs: z.number(), expiresAtMs: z.number() })

/**
 * Keeps the token in `livehouse_ops.access_tokens` for every process of this database, sealed: only who has the
 * application's secret reads it. What another secret sealed counts as none.
 *
 * Being alone is a row that a transaction locks, so that it ends with the process that holds it, also behind a pooler. It takes a
 * connection of the pool while it lasts, and only then: who waits for it asks again and again.
 * @throws db.unreachable, db.refused
 */
export function createSharedTokenStore(
  db: Kysely<Database>,
  { authUrl, appId, appSecret, clock }: SharedTokenOptions,
): SharedTokenStore {
  const seal = createSeal(appSecret, JSON.stringify(['access token', authUrl, appId]))
  const shelf = (connection: Kysely<Database>) => createShelf(connection, { authUrl, appId, seal })
  return {
    ...shelf(db),
    exclusively: async (work, signal) => {
      await makeName(db, LOCK)
      for (;;) {
        signal.throwIfAborted()
        const turn = await db.transaction().execute(async (transaction) => {
          if (!(await tryLockName(transaction, LOCK))) return undefined
          await sql`select set_config('idle_in_transaction_session_timeout', '0', true)`.execute(transaction)
          // Not a connection more than this one: a small pool may have no other to give.
          return { result: await work(shelf(transaction)) }
        })
        if (turn !== undefined) return turn.result
        await clock.sleep(POLL_MS, signal)
      }
    },
  }
}

function createShelf(
  db: Kysely<Database>,
  { authUrl, appId, seal }: { readonly authUrl: string; readonly appId: string; readonly seal: Seal },
): SharedTokenShelf {
  return {
    read: async () => {
      const row = await db
        .selectFrom('livehouse_ops.access_tokens')
        .select('sealed')
        .where('auth_url', '=', authUrl)
        .where('app_id', '=', appId)
        .executeTakeFirst()
      const text = row && (await seal.open(row.sealed))
      return text === undefined ? undefined : tokenSchema.safeParse(JSON.parse(text)).data
    },
    write: async (token) => {
      const sealed = await seal.seal(JSON.stringify(token))
      const expires_at = new Date(token.expiresAtMs)
      await db
        .insertInto('livehouse_ops.access_tokens')
        .values({ auth_url: authUrl, app_id: appId, sealed, expires_at })
        .onConflict((conflict) => conflict.columns(['auth_url', 'app_id']).doUpdateSet({ sealed, expires_at }))
        .execute()
    },
  }
}

const ALGORITHM = 'aes-256-gcm'
const KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** Encrypts texts for whoever knows the same secret. */
export interface Seal {
  readonly seal: (text: string) => Promise<Buffer>
  /** @returns undefined for what another secret sealed, what was sealed for another purpose, and what was changed since */
  readonly open: (sealed: Buffer) => Promise<string | undefined>
}

/**
 * AES-256-GCM under a key made of `secret` by scrypt: who gets hold of the database should not find the secret by trying.
 * `purpose` is bound to what is sealed: under another purpose it does not open.
 */
export function createSeal(secret: string, purpose: string): Seal {
  let key: Promise<Buffer> | undefined
  // The salt is no secret and no random number: every process comes to the same key.
  const deriveKey = (): Promise<Buffer> =>
    new Promise((resolve, reject) => {
      scrypt(secret, `livehouse/${purpose}`, KEY_BYTES, (error, made) => (error ? reject(error) : resolve(made)))
    })
  const associated = Buffer.from(purpose)

  return {
    seal: async (text) => {
      key ??= deriveKey()
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv(ALGORITHM, await key, nonce).setAAD(associated)
      const encrypted = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
      return Buffer.concat([nonce, cipher.getAuthTag(), encrypted])
    },
    open: async (sealed) => {
      if (sealed.length < NONCE_BYTES + TAG_BYTES) return undefined
      key ??= deriveKey()
      const nonce = sealed.subarray(0, NONCE_BYTES)
      const tag = sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES)
      const options = { authTagLength: TAG_BYTES }
      const decipher = createDecipheriv(ALGORITHM, await key, nonce, options)
        .setAAD(associated)
        .setAuthTag(tag)
      const text = decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES))
      try {
        return Buffer.concat([text, decipher.final()]).toString('utf8')
      } catch {
        return undefined
      }
    },
  }
}
