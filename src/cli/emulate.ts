import { once } from 'node:events'
import { readSettings } from '../config.ts'
import { hasCode } from '../core/errors.ts'
import { isTimeZone } from '../core/wall-clock.ts'
import { type Emulator, startEmulator } from '../emulator/server.ts'
import { readInteger } from './flags.ts'
import { formatEnv } from './format.ts'
import { defineCommand } from './usage.ts'

/** The default port. It is fixed, so that printed settings stay valid. */
const PORT = 4010
const TIME_ZONE = 'Asia/Shanghai'

const flags = {
  port: ['N', `port of 127.0.0.1; 0 for a free one (default: ${PORT}, or a free one where that is taken)`],
  seed: ['N', 'which world (default 1)'],
  channels: ['N', 'channels (default 10)'],
  viewers: ['N', 'viewers per channel (default 1000)'],
  days: ['N', 'days of history before now (default 30)'],
  latency: ['MS', 'wait before each answer (default 0)'],
  'rate-limit': ['N', 'calls per second; more are answered with 429 (default: no limit)'],
  'retry-after': ['S', 'seconds that such an answer asks to wait (default: it does not say)'],
  'time-zone': ['ZONE', `zone of the service's clock (default ${TIME_ZONE})`],
} as const

export const emulate = defineCommand(
  {
    about: `Emulates the whole channel service on this machine, with made-up records, until Ctrl-C, and prints the
.env that goes with it. The same seed and numbers give the same world for the same minute of the clock.`,
    flags,
    examples: `mkdir try && cd try && livehouse emulate > .env     then livehouse sync in another terminal
livehouse emulate --channels 3 --viewers 20000 --latency 50
livehouse emulate --rate-limit 5 --retry-after 1`,
  },
  ({ values }, refuse) => {
    const whole = (flag: Exclude<keyof typeof flags, 'time-zone'>, min: number, max: number) =>
      readInteger(`--${flag}`, values[flag], refuse, max, min)
    const { 'time-zone': timeZone = TIME_ZONE } = values
    if (!isTimeZone(timeZone))
      refuse(`--time-zone is ${JSON.stringify(timeZone)}; it should be a time zone such as Asia/Shanghai or UTC`)
    return {
      port: whole('port', 0, 65_535),
      seed: whole('seed', 0, 4_294_967_295),
      channels: whole('channels', 1, 10_000),
      viewers: whole('viewers', 0, 1_000_000),
      days: whole('days', 1, 3650),
      conditions: {
        latencyMs: whole('latency', 0, 600_000) ?? 0,
        callsPerSecond: whole('rate-limit', 1, 1_000_000),
        retryAfterSeconds: whole('retry-after', 0, 86_400),
      },
      timeZone,
    }
  },
  async ({ environment, clock, signal, print, remark }, settings) => {
    readSettings(environment, () => {})
    await using emulator = await startEmulator({ ...settings, port: settings.port ?? PORT, clock }).catch(
      (error: unknown) => {
        if (settings.port !== undefined || !hasCode(error, 'usage.invalid')) throw error
        return startEmulator({ ...settings, port: 0, clock })
      },
    )
    for (const line of formatEnv({ ...settingsOf(emulator), DATABASE_URL: 'embedded' })) print(line)
    const [channel] = emulator.world.channels.values()
    remark(`The hash id of channel ${channel?.id ?? ''} is ${channel?.hashId ?? ''} (api ticket). Ctrl-C ends it.`)
    if (!signal.aborted) await once(signal, 'abort')
    return 0
  },
)

/** The settings that livehouse needs to use an emulator. */
export function settingsOf(emulator: Emulator): Readonly<Record<string, string>> {
  return {
    LIVEHOUSE_BASE_URL: emulator.baseUrl,
    LIVEHOUSE_AUTH_URL: emulator.authUrl,
    LIVEHOUSE_APP_ID: emulator.appId,
    LIVEHOUSE_APP_SECRET: emulator.appSecret,
    LIVEHOUSE_API_TOKEN: emulator.apiToken,
    LIVEHOUSE_CHANNELS: emulator.channelIds.join(','),
    LIVEHOUSE_TIMEZONE: emulator.world.timeZone,
  }
}
