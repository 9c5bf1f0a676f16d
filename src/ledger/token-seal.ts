import { createCipheriv, createDecipheriv, randomBytes, scrypt } from 'node:crypto'

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
