import { createCipheriv, createDecipheriv, randomBytes, scryptSync } from 'node:crypto'
import { sql } from 'kysely'
import type { AccessToken, TokenStore } from '../core/shared-calls.ts'
import type { Clock } from '../core/clock.ts'
import type { Db } from '../store/database.ts'
import { makeName, tryLockName } from '../store/lock-name.ts'
import { setLocal } from '../store/driver.ts'
import { ops } from './ops.ts'

interface SharedTokenOptions {
  readonly authUrl: string
  readonly appId: string
  readonly appSecret: string
  readonly clock: Clock
}

const POLL_MS = 50
const LOCK = 'access token'

/**
 * Keeps the token in `livehouse_ops.access_tokens` for every process of this database, encrypted with the application's
 * secret. One that was encrypted with another secret counts as none.
 *
 * One process at a time replaces it: it locks a row in a transaction, so that the lock ends with the process, also
 * behind a pooler. Only the holder takes a connection of the pool; others ask again and again.
 * @throws db.unreachable, db.refused
 */
export function createSharedTokenStore(db: Db, { authUrl, appId, appSecret, clock }: SharedTokenOptions): TokenStore {
  const { seal, open } = createSeal(appSecret, JSON.stringify(['access token', authUrl, appId]))
  const read = async (connection: Db): Promise<AccessToken | undefined> => {
    const tokens = ops(connection).selectFrom('access_tokens').select('sealed').where('authUrl', '=', authUrl)
    const row = await tokens.where('appId', '=', appId).executeTakeFirst()
    const text = row && open(row.sealed)
    return text === undefined ? undefined : JSON.parse(text)
  }
  const write = async (connection: Db, token: AccessToken): Promise<void> => {
    const kept = { sealed: seal(JSON.stringify(token)), expiresAt: new Date(token.expiresAtMs) }
    const saving = ops(connection)
      .insertInto('access_tokens')
      .values({ authUrl, appId, ...kept })
    await saving.onConflict((conflict) => conflict.columns(['authUrl', 'appId']).doUpdateSet(kept)).execute()
  }
  return {
    read: () => read(db),
    replace: async (make, signal) => {
      await makeName(db, LOCK)
      for (;;) {
        signal.throwIfAborted()
        // All on this one connection: a small pool may have no second one.
        const token = await db.transaction().execute(async (transaction) => {
          if (!(await tryLockName(transaction, LOCK))) return undefined
          await setLocal(transaction, { idle_in_transaction_session_timeout: '0' })
          const made = await make(await read(transaction))
          await write(transaction, made)
          return made
        })
        if (token !== undefined) return token
        await clock.sleep(POLL_MS, signal)
      }
    },
  }
}

/** Whether this user may write a token, and the pace of calls. */
export async function mayShareToken(db: Db): Promise<boolean> {
  // The builder does not know rights.
  const { rows } = await sql<{ may: boolean }>`
    select not current_setting('transaction_read_only')::boolean
      and has_schema_privilege('livehouse_ops', 'usage')
      and has_table_privilege('livehouse_ops.access_tokens', 'insert')
      and has_table_privilege('livehouse_ops.call_paces', 'insert') as may`.execute(db)
  return rows[0]?.may ?? false
}

const ALGORITHM = 'aes-256-gcm'
const KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16

/**
 * AES-256-GCM under a key that scrypt derives from `secret`: with a stolen database, guessing the secret is slow.
 * `purpose` is authenticated too: under another one, `open` fails.
 */
function createSeal(secret: string, purpose: string) {
  let key: Buffer | undefined
  // The salt is fixed, so that every process derives the same key.
  const deriveKey = () => (key ??= scryptSync(secret, `livehouse/${purpose}`, KEY_BYTES))
  const associated = Buffer.from(purpose)
  return {
    seal: (text: string): Buffer => {
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv(ALGORITHM, deriveKey(), nonce).setAAD(associated)
      const encrypted = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
      return Buffer.concat([nonce, cipher.getAuthTag(), encrypted])
    },
    /** @returns undefined where it was sealed with another secret or purpose, or was changed since */
    open: (sealed: Buffer): string | undefined => {
      try {
        const nonce = sealed.subarray(0, NONCE_BYTES)
        const decipher = createDecipheriv(ALGORITHM, deriveKey(), nonce, { authTagLength: TAG_BYTES })
          .setAAD(associated)
          .setAuthTag(sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
        const text = decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES))
        return Buffer.concat([text, decipher.final()]).toString('utf8')
      } catch {
        return undefined
      }
    },
  }
}
