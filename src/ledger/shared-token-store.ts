import { createCipheriv, createDecipheriv, randomBytes, scryptSync } from 'node:crypto'
import { sql } from 'kysely'
import type { Clock } from '../core/clock.ts'
import type { AccessToken, TokenStore } from '../core/shared-calls.ts'
import type { Db } from '../store/database.ts'
import { Leases } from './leases/leases.ts'
import { ops } from './ops.ts'

interface SharedTokenOptions {
  readonly authUrl: string
  readonly appId: string
  readonly appSecret: string
  readonly clock: Clock
}

const POLL_MS = 50
const LEASE = 'access token'

/**
 * Keeps the token in `livehouse_ops.access_tokens` for all processes of this database, encrypted with the application's
 * secret. A token that another secret encrypted counts as none.
 *
 * A lease lets one process at a time replace the token. No connection is held while the service is asked. A process
 * that loses the lease meanwhile still saves its token, as it may be the later one.
 * @throws db.unreachable, db.refused
 */
export function createSharedTokenStore(db: Db, { authUrl, appId, appSecret, clock }: SharedTokenOptions): TokenStore {
  const { seal, open } = createSeal(appSecret, JSON.stringify(['access token', authUrl, appId]))
  const read = async (): Promise<AccessToken | undefined> => {
    const tokens = ops(db).selectFrom('access_tokens').select('sealed').where('authUrl', '=', authUrl)
    const row = await tokens.where('appId', '=', appId).executeTakeFirst()
    const text = row && open(row.sealed)
    return text === undefined ? undefined : JSON.parse(text)
  }
  return {
    read,
    replace: async (make, signal) => {
      signal.throwIfAborted()
      await using leases = new Leases(db, { hasOwnConnection: false })
      while (!(await leases.tryTake(LEASE, { yieldsToOthers: true }))) await clock.sleep(POLL_MS, signal)
      const token = await make(await read())
      const content = { sealed: seal(JSON.stringify(token)), expiresAt: new Date(token.expiresAtMs) }
      const row = { authUrl, appId, ...content }
      const saving = ops(db).insertInto('access_tokens').values(row)
      await saving.onConflict((conflict) => conflict.columns(['authUrl', 'appId']).doUpdateSet(content)).execute()
      return token
    },
  }
}

/** Whether this database login may write the token and the pace of calls. */
export async function mayShareToken(db: Db): Promise<boolean> {
  // The builder does not know privileges.
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
 * AES-256-GCM with a key that scrypt derives from `secret`, so that guessing the secret from a stolen database is slow.
 * `purpose` is authenticated too: with another one, `open` fails.
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
    /** @returns undefined if it was sealed with another secret or purpose, or was altered since */
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
