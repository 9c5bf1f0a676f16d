import { Client, type ClientConfig, Connection } from 'pg'
import { LivehouseError } from '../core/errors.ts'

/** The driver's client, or one that keeps to `require_auth=scram-sha-256` where the URL asks for it (as of libpq). */
export function clientFor(url: string): typeof Client {
  return new URL(url).searchParams.get('require_auth') === 'scram-sha-256' ? ScramClient : Client
}

/** Such a client, not connected yet, whose loss ends only its statements. */
export function createClient(url: string, config: ClientConfig = {}): Client {
  const client = new (clientFor(url))({ connectionString: url, application_name: 'livehouse', ...config })
  client.on('error', () => {})
  return client
}

/** The URL as every client takes it: libpq knows `require_auth` from version 16 on, others do not. */
export function withoutRequireAuth(url: string): string {
  const plain = new URL(url)
  plain.searchParams.delete('require_auth')
  return plain.href
}

/** Connects to a server only that proves, by SCRAM, that it knows the password; it sends none. */
class ScramClient extends Client {
  declare readonly sslNegotiation: string

  constructor(config?: ClientConfig) {
    const whole = { ...config, connection: new ScramConnection(config) }
    super(whole)
    // The client reads them from the URL and the environment, but tells only a connection that it made itself.
    Object.assign(this.connection, { ssl: this.ssl, sslNegotiation: this.sslNegotiation })
  }
}

/** The driver's client acts on the events of its connection: what is not passed on here, it never does. */
class ScramConnection extends Connection {
  #isProven = false
  #hasFailed = false

  override emit(event: string, ...values: unknown[]): boolean {
    if (this.#hasFailed && event !== 'end') return false
    switch (event) {
      case 'authenticationCleartextPassword':
      case 'authenticationMD5Password':
        return this.#fail('it asks for the password in another way')
      case 'authenticationOk':
      // The client takes this as a finished start, whatever came before it.
      case 'readyForQuery':
        return this.#isProven ? super.emit(event, ...values) : this.#fail('it asks for no proof and gives none')
      case 'authenticationSASLFinal':
        // The client checks the server's signature in this call; where it is wrong it emits an error.
        super.emit(event, ...values)
        this.#isProven = !this.#hasFailed
        return true
      case 'error':
        return isOfScram(values[0]) && !this.#isProven
          ? this.#fail(values[0].message, values[0])
          : super.emit(event, ...values)
      default:
        return super.emit(event, ...values)
    }
  }

  #fail(detail: string, cause?: Error): boolean {
    this.#hasFailed = true
    this.stream.destroy()
    const reason = `the server does not prove by SCRAM that it knows the password (${detail})`
    const message = `Database: ${reason}, so nothing was sent to it. Find out what listens on that port.`
    return super.emit('error', new LivehouseError('db.refused', message, { reason, sqlState: '28000' }, { cause }))
  }
}

/** Those of the network have a code, other than that of a server which is too slow to answer. */
function isOfScram(error: unknown): error is Error {
  return error instanceof Error && !('code' in error) && error.message !== 'timeout expired'
}
