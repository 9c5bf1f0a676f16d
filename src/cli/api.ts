import type { Client } from '../api/client.ts'
import { ticketScopes, ticketTitles } from '../api/login-ticket.ts'
import type { SavedMenu } from '../api/menu.ts'
import { readDatabaseSettings, readServiceSettings, readSettings, type ServiceSettings } from '../config.ts'
import { LivehouseError } from '../core/errors.ts'
import { checkUsage, parseArguments } from './arguments.ts'
import type { CliContext, Command } from './command.ts'
import { readPositiveInteger } from './flags.ts'
import { openConnection } from './open-connection.ts'
import { openSharedDatabase } from './open-shared-database.ts'

const help = `livehouse api token [--show] [--json]
livehouse api ticket --scope S --outerid ID --hash-act-id ID --client-ip IP [--username NAME] [--nickname NAME]
                     [--user-avatar URL] [--title TITLE] [--json]
livehouse api menu create --channel ID [--name TEXT] [--type N] [--rich-text HTML] [--vid N]… [--json]
livehouse api menu update --channel ID --menu-id N [--name TEXT] [--type N] [--rich-text HTML] [--vid N]… [--json]

The service's calls that read no records (API 4.1 to 4.4). Values are checked before anything is sent. Where DATABASE_URL is
set, a fetched token is shared with the runs that use that database.

token    asks for an access token with LIVEHOUSE_APP_ID and LIVEHOUSE_APP_SECRET, and shows its ends and its validity
  --show          the whole token
ticket   asks for a login ticket: valid 5 minutes, for one use
  --scope         ${ticketScopes.join(', ')}
  --outerid       the person's id on your platform; for outer_visitor at most 32 units (a letter or digit counts 1, a
                  Chinese character 3)
  --hash-act-id   the channel's hash id, such as exov5dm9; not its number
  --client-ip     the person's IP address
  --username      needed when the outerid is authorised for the first time
  --nickname, --title   for act_assistant; the title, which it needs, is ${ticketTitles.join(', ')}
  --user-avatar   address of a picture
menu     adds a menu to a channel (each call adds one), or changes one
  --channel       the channel's number
  --name          at most 4 Chinese or 8 narrow characters
  --type          1 chat, 2 rich text, 3 video (the default), 4 topic
  --rich-text     for type 2
  --vid           for type 3: the id of a video of yours; repeat it for more

Examples:
  livehouse api token
  livehouse api ticket --scope outer_visitor --outerid user42 --hash-act-id exov5dm9 --client-ip 203.0.113.7
  livehouse api menu create --channel 10001589 --name 精彩回放 --type 3 --vid 522323 --vid 522324
  livehouse api menu update --channel 10001589 --menu-id 1234 --name 互动`

const json = { json: { type: 'boolean' } } as const
const text = { type: 'string' } as const
const menuOptions = {
  channel: text,
  name: text,
  type: text,
  'rich-text': text,
  vid: { type: 'string', multiple: true },
  ...json,
} as const

/** API 4.1 to 4.4 for people. */
export const api: Command = {
  help,
  run: async (context, argv) => {
    const [action = '', ...rest] = argv
    if (action === 'token') await showToken(context, rest)
    else if (action === 'ticket') await issueTicket(context, rest)
    else if (action === 'menu' && rest[0] === 'create') await createMenu(context, rest.slice(1))
    else if (action === 'menu' && rest[0] === 'update') await updateMenu(context, rest.slice(1))
    else throw unknownAction([action, ...(action === 'menu' ? rest.slice(0, 1) : [])].join(' ').trim())
    return 0
  },
}

async function showToken(context: CliContext, argv: readonly string[]): Promise<void> {
  const { values } = parseArguments('api', argv, { show: { type: 'boolean' }, ...json })
  await withClient(context, async (client) => {
    const token = await client.accessToken({ signal: context.signal })
    const shown = values.show ? token.value : mask(token.value)
    const validSeconds = Math.round((token.expiresAtMs - token.issuedAtMs) / 1000)
    const expiresAt = new Date(token.expiresAtMs).toISOString()
    const lines = [`token    ${shown}`, `valid    ${validSeconds} s, until ${expiresAt}`]
    if (!values.show) lines.push('(--show prints the whole token)')
    printResult(
      context,
      values.json,
      { access_token: shown, valid_seconds: validSeconds, expires_at: expiresAt },
      lines,
    )
  })
}

async function issueTicket(context: CliContext, argv: readonly string[]): Promise<void> {
  const { values } = parseArguments('api', argv, {
    scope: text,
    outerid: text,
    'hash-act-id': text,
    'client-ip': text,
    username: text,
    nickname: text,
    'user-avatar': text,
    title: text,
    ...json,
  })
  const { username, nickname, title, 'user-avatar': userAvatar } = values
  const request = checkUsage('api', (refuse) => {
    const need = (name: 'scope' | 'outerid' | 'hash-act-id' | 'client-ip'): string => {
      if (values[name] === undefined) refuse(`--${name} is not given; api ticket needs it`)
      return values[name] ?? ''
    }
    return {
      scope: need('scope'),
      outerId: need('outerid'),
      hashActId: need('hash-act-id'),
      clientIp: need('client-ip'),
    }
  })
  const optional = {
    ...(username === undefined ? {} : { username }),
    ...(nickname === undefined ? {} : { nickname }),
    ...(userAvatar === undefined ? {} : { userAvatar }),
    ...(title === undefined ? {} : { title }),
  }
  await withClient(context, async (client, { authUrl }) => {
    const ticket = await client.loginTicket({ ...request, ...optional }, { signal: context.signal })
    context.addSecret(ticket)
    const redeemUrl = `${authUrl ?? ''}/v2/oauth2/authorize?ticket=${encodeURIComponent(ticket)}`
    printResult(context, values.json, { ticket, redeem_url: redeemUrl, valid_seconds: 300 }, [
      `ticket   ${ticket}`,
      'valid    5 minutes, for one use',
      `redeem   ${redeemUrl}`,
      '         (in the browser of the person; add &redirect_uri=… to choose where it leads)',
    ])
  })
}

async function createMenu(context: CliContext, argv: readonly string[]): Promise<void> {
  const { values } = parseArguments('api', argv, menuOptions)
  const { channelId, menu } = checkUsage('api', (refuse) => readMenuFlags('create', values, refuse))
  await withClient(context, async (client) => {
    printMenu(context, values.json, channelId, await client.createMenu(channelId, menu, { signal: context.signal }))
  })
}

async function updateMenu(context: CliContext, argv: readonly string[]): Promise<void> {
  const { values } = parseArguments('api', argv, { ...menuOptions, 'menu-id': text })
  const { channelId, menu, menuId } = checkUsage('api', (refuse) => {
    if (values['menu-id'] === undefined) refuse('--menu-id is not given; api menu update needs it')
    const id = readPositiveInteger('--menu-id', values['menu-id'], refuse) ?? 0
    return { ...readMenuFlags('update', values, refuse), menuId: id }
  })
  await withClient(context, async (client) => {
    const saved = await client.updateMenu(channelId, menuId, menu, { signal: context.signal })
    printMenu(context, values.json, channelId, saved)
  })
}

interface MenuFlags {
  readonly channel?: string
  readonly name?: string
  readonly type?: string
  readonly 'rich-text'?: string
  readonly vid?: readonly string[]
}

function readMenuFlags(action: string, flags: MenuFlags, refuse: (problem: string) => void) {
  const { channel, name, vid } = flags
  if (channel === undefined) refuse(`--channel is not given; api menu ${action} needs it`)
  const type = readPositiveInteger('--type', flags.type, refuse, 4)
  const vids = vid?.map((each) => readPositiveInteger('--vid', each, refuse) ?? 0)
  const richText = flags['rich-text']
  const menu = {
    ...(name === undefined ? {} : { name }),
    ...(type === undefined ? {} : { type }),
    ...(richText === undefined ? {} : { richText }),
    ...(vids === undefined ? {} : { vids }),
  }
  return { channelId: channel ?? '', menu }
}

function printMenu(context: CliContext, isJson: boolean | undefined, channelId: string, saved: SavedMenu): void {
  const menuId = String(saved.menuId)
  printResult(context, isJson, { channel_id: channelId, menu_id: JSON.rawJSON(menuId), result: saved.result }, [
    `menu ${menuId} of channel ${channelId}: ${saved.result}`,
  ])
}

async function withClient(
  context: CliContext,
  work: (client: Client, settings: ServiceSettings) => Promise<void>,
): Promise<void> {
  const { service, database } = readSettings(context.environment, (source) => ({
    service: readServiceSettings(source),
    database: source.isSet('DATABASE_URL') ? readDatabaseSettings(source) : undefined,
  }))
  await using shared = await openSharedDatabase(context, service, database)
  await using connection = openConnection(context, service, shared.db)
  await work(connection.client, service)
}

function printResult(
  { print }: CliContext,
  isJson: boolean | undefined,
  result: Readonly<Record<string, unknown>>,
  lines: readonly string[],
): void {
  if (isJson) print(JSON.stringify(result))
  else for (const line of lines) print(line)
}

/** The ends of a long token are enough to tell two apart. */
function mask(token: string): string {
  const shown = token.length >= 16 ? `${token.slice(0, 4)}…${token.slice(-4)}` : '…'
  return `${shown} (${token.length} characters)`
}

function unknownAction(action: string): LivehouseError<'usage.invalid'> {
  const actions = 'token, ticket, menu create and menu update'
  const problem = action === '' ? `it is one of ${actions}` : `there is no "${action}"; there are ${actions}`
  return new LivehouseError('usage.invalid', 'wrong use, see livehouse api --help', { problems: [problem] })
}
