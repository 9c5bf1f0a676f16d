import type { Connection } from '../../api/connect.ts'
import { openConnection } from '../../app/open-connection.ts'
import { openSharedDatabase } from '../../app/open-database.ts'
import type { DatabaseSettings, ServiceSettings } from '../../config.ts'
import type { ChannelSetting } from '../../config/channel-setting.ts'
import { hasCode } from '../../core/errors.ts'
import type { CliContext } from '../command.ts'
import { checkClock } from './check-clock.ts'
import { checkEndpoints } from './check-endpoints.ts'
import { type Check, failed, passed, type ReportCheck, skipped } from './check.ts'

/** What of the settings is there. */
export interface ServiceChecks {
  readonly service: ServiceSettings
  readonly database: DatabaseSettings | undefined
  readonly channels: readonly ChannelSetting[]
}

/** The two addresses, the token, each endpoint that reads, and the clock. */
export async function checkService(
  context: CliContext,
  { service: settings, database, channels }: ServiceChecks,
  report: ReportCheck,
): Promise<void> {
  const { signal } = context
  // A token that is asked for here may end the one that a run uses. What is wrong with the database is said later.
  await using shared = await openSharedDatabase({ ...context, remark: () => {} }, settings, database)
  // Somebody watches: what is asked again is asked at once.
  await using connection = openConnection(context, settings, shared.db, { random: () => 0 })
  const base = await checkAddress(connection, 'base', settings.baseUrl, context)
  report(base)
  const hasCredentials = settings.appId !== null && settings.authUrl !== null
  const auth = hasCredentials ? await checkAddress(connection, 'auth', settings.authUrl, context) : undefined
  if (auth !== undefined) report(auth)
  report(await checkToken(connection, auth, context))
  await checkEndpoints(connection, { channels, isReachable: base.result === 'ok', signal, report })
  report(checkClock(connection.serviceClock.ownAheadMs()))
}

async function checkAddress(
  { reach }: Connection,
  host: 'base' | 'auth',
  url: string | null,
  { signal }: CliContext,
): Promise<Check> {
  const name = `${host} URL`
  try {
    const status = await reach(host, { signal })
    return passed(name, `${url} answers (HTTP ${status} without a token)`)
  } catch (error) {
    // Whatever comes instead of a whole answer: somebody is there.
    if (hasCode(error, 'api.bodyRefused')) return passed(name, `${url} answers`)
    return failed(name, error, signal)
  }
}

async function checkToken({ client }: Connection, address: Check | undefined, { signal }: CliContext): Promise<Check> {
  const name = '4.1 token'
  if (address === undefined) return skipped(name, 'not needed: no app id is set, the fixed token is used')
  if (address.result === 'failed') return skipped(name, 'not asked: the auth URL does not answer')
  try {
    const { issuedAtMs, expiresAtMs } = await client.accessToken({ signal })
    return passed(name, `handed out, valid for ${Math.round((expiresAtMs - issuedAtMs) / 1000)} s`)
  } catch (error) {
    return failed(name, error, signal)
  }
}
