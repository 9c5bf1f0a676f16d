import { generateKeyPairSync, sign } from 'node:crypto'
import { createServer } from 'node:tls'

/** A certificate signed by itself, with its key. */
export interface TestCertificate {
  readonly cert: string
  readonly key: string
}

/** Made by hand (RFC 5280, RFC 8410): nothing on the machine is needed to make one. */
export function createCertificate(names: readonly string[], from: Date, to: Date): TestCertificate {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const algorithm = der(0x30, oid('2b6570'))
  const name = der(0x30, der(0x31, der(0x30, oid('550403'), der(0x0c, Buffer.from('livehouse test')))))
  const sanNames = names.map((text) =>
    /^[\d.]+$/.test(text) ? der(0x87, Buffer.from(text.split('.').map(Number))) : der(0x82, Buffer.from(text)),
  )
  const extension = der(0x30, oid('551d11'), der(0x04, der(0x30, ...sanNames)))
  const body = der(
    0x30,
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1])),
    algorithm,
    name,
    der(0x30, utcTime(from), utcTime(to)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, der(0x30, extension)),
  )
  const signature = der(0x03, Buffer.from([0]), sign(null, body, privateKey))
  const pem = der(0x30, body, algorithm, signature).toString('base64').replace(/.{64}/g, '$&\n')
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${pem}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  }
}

export interface TlsServer extends AsyncDisposable {
  readonly port: number
}

/** Shows a certificate on loopback and says nothing more. */
export async function startTlsServer(certificate: TestCertificate): Promise<TlsServer> {
  const server = createServer({ ...certificate }, (socket) => socket.on('error', () => {}))
  server.on('tlsClientError', () => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    [Symbol.asyncDispose]: async () => await new Promise<void>((resolve) => server.close(() => resolve())),
  }
}

function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts)
  const { length } = content
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255]
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}

function oid(hex: string): Buffer {
  return der(0x06, Buffer.from(hex, 'hex'))
}

function utcTime(date: Date): Buffer {
  return der(0x17, Buffer.from(`${date.toISOString().replace(/\D/g, '').slice(2, 14)}Z`))
}
