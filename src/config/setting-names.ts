import { didYouMean } from '../core/did-you-mean.ts'

/** Every setting of livehouse's own; `.env.example` says what each is. */
export const settingNames = [
  'LIVEHOUSE_ALERT_FORMAT',
  'LIVEHOUSE_ALERT_KEYWORD',
  'LIVEHOUSE_ALERT_SECRET',
  'LIVEHOUSE_ALERT_WEBHOOK',
  'LIVEHOUSE_ALLOW_HTTP',
  'LIVEHOUSE_API_TOKEN',
  'LIVEHOUSE_APP_ID',
  'LIVEHOUSE_APP_SECRET',
  'LIVEHOUSE_AUTH_URL',
  'LIVEHOUSE_AUTO_MIGRATE',
  'LIVEHOUSE_BASE_URL',
  'LIVEHOUSE_BROADCAST_GAP',
  'LIVEHOUSE_BROADCAST_MIN',
  'LIVEHOUSE_CHANNELS',
  'LIVEHOUSE_CONCURRENCY',
  'LIVEHOUSE_CURRENCY',
  'LIVEHOUSE_DATA_DIR',
  'LIVEHOUSE_HEARTBEAT_URL',
  'LIVEHOUSE_HISTORY_FROM',
  'LIVEHOUSE_HTTP',
  'LIVEHOUSE_HTTP_TOKEN',
  'LIVEHOUSE_IGNORED_IDS',
  'LIVEHOUSE_JOBS_DIR',
  'LIVEHOUSE_LANG',
  'LIVEHOUSE_LIST_PARAMS',
  'LIVEHOUSE_MASK',
  'LIVEHOUSE_MAX_CALLS_PER_SECOND',
  'LIVEHOUSE_QUEUE_URL',
  'LIVEHOUSE_REQUEST_TIMEOUT',
  'LIVEHOUSE_TIMEZONE',
  'LIVEHOUSE_V1_BUDGET',
  'LIVEHOUSE_V1_BUDGET_SCOPE',
] as const

/** What is set as if it were a setting of livehouse and is none, each with the nearest name: mistyped, most often. */
export function describeUnknownSettings(environment: Readonly<Record<string, string | undefined>>): readonly string[] {
  const known: ReadonlySet<string> = new Set(settingNames.flatMap((name) => [name, `${name}_FILE`]))
  const unknown = Object.keys(environment).filter((name) => name.startsWith('LIVEHOUSE_') && !known.has(name))
  return unknown.map((name) => `${name} is no setting${didYouMean(name, settingNames)}`)
}
