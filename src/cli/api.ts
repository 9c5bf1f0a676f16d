import { openConnection, WATCHED_REFUSED_MS } from '../app/open-connection.ts'
import { openSharedDatabase } from '../app/open-database.ts'
import { readServiceAndAnyDatabase, readSettings } from '../config.ts'
import { requestTicket, saveMenu, ticketScopes, ticketTitles } from '../service/other-calls.ts'
import { readInteger, readList } from './flags.ts'
import { formatMinuteIn } from './format.ts'
import { defineCommand } from './usage.ts'

const ticketActions = ['ticket'] as const
const menuActions = ['menu create', 'menu update'] as const

const flags = {
  show: ['', 'the whole token', 'token'],
  scope: ['S', ticketScopes.join(', '), ...ticketActions],
  outerid: ['ID', "the person's id on your platform", ...ticketActions],
  'hash-act-id': ['ID', "the channel's hash id, such as exov5dm9; not its number", ...ticketActions],
  'client-ip': ['IP', "the person's IP address", ...ticketActions],
  username: ['NAME', 'needed when the outerid is authorised for the first time', ...ticketActions],
  nickname: ['NAME', 'for act_assistant', ...ticketActions],
  title: ['TITLE', `for act_assistant, which needs it: ${ticketTitles.join(', ')}`, ...ticketActions],
  'user-avatar': ['URL', 'address of a picture', ...ticketActions],
  channel: ['ID', "the channel's number", ...menuActions],
  'menu-id': ['N', 'the menu to change', 'menu update'],
  name: ['TEXT', 'at most 4 Chinese characters', ...menuActions],
  type: ['N', '1 chat, 2 rich text, 3 video (the default), 4 topic', ...menuActions],
  'rich-text': ['HTML', "for type 2; '' clears it", ...menuActions],
  vid: ['N,N', 'for type 3: the ids of videos of yours', ...menuActions],
} as const

const neededFlags: Readonly<Record<string, readonly (keyof typeof flags)[]>> = {
  ticket: ['scope', 'outerid', 'hash-act-id', 'client-ip'],
  'menu create': ['channel'],
  'menu update': ['channel', 'menu-id'],
}

export const api = defineCommand(
  {
    about: `The service's calls that read no records (API 4.1 to 4.4). The service checks the values.
If DATABASE_URL is set, a fetched token is shared with the runs on that database.`,
    actions: {
      token: 'asks for an access token, and shows its first and last letters and its validity',
      ticket: 'asks for a login ticket: valid 5 minutes, for one use',
      'menu create': 'adds a menu to a channel (each call adds one)',
      'menu update': 'changes one',
    },
    flags,
    examples: `livehouse api token
livehouse api ticket --scope outer_visitor --outerid user42 --hash-act-id exov5dm9 --client-ip 203.0.113.7
livehouse api menu create --channel 10001589 --name 精彩回放 --type 3 --vid 522323,522324
livehouse api menu update --channel 10001589 --menu-id 1234 --name 互动`,
  },
  ({ action, values }, refuse) => {
    const needed = neededFlags[action] ?? []
    for (const [name, value] of Object.entries(values))
      if (value === '' && name !== 'rich-text') refuse(`--${name} needs a value`)
    if (values.channel !== undefined && !/^[\w-]+$/.test(values.channel))
      refuse(`--channel is ${JSON.stringify(values.channel)}; it should be letters, digits, - and _`)
    for (const name of needed) if (values[name] === undefined) refuse(`--${name} is not given; api ${action} needs it`)
    return {
      action,
      values,
      menuId: readInteger('--menu-id', values['menu-id'], refuse) ?? 0,
      type: readInteger('--type', values.type, refuse, 4),
      vids: readList('--vid', values.vid, refuse)?.map((each) => readInteger('--vid', each, refuse) ?? 0),
    }
  },
  async (context, { action, values, menuId, type, vids }) => {
    const { print } = context
    const { service, database } = readSettings(context.environment, readServiceAndAnyDatabase)
    await using shared = await openSharedDatabase(context, service, database)
    await using connection = openConnection(context, service, shared, { longestRefusedMs: WATCHED_REFUSED_MS })
    if (action === 'token') {
      const { value, issuedAtMs, expiresAtMs } = await connection.accessToken(context)
      const until = formatMinuteIn(service.timeZone)(new Date(expiresAtMs))
      print(`token    ${values.show ? value : mask(value)}`)
      print(`valid    ${Math.round((expiresAtMs - issuedAtMs) / 1000)} s, until ${until} ${service.timeZone}`)
      if (!values.show) print('(--show prints the whole token)')
    } else if (action === 'ticket') {
      const { scope = '', outerid = '', username, nickname, title, 'user-avatar': user_avatar } = values
      const ids = { hash_act_id: values['hash-act-id'] ?? '', client_ip: values['client-ip'] ?? '' }
      const parameters = { scope, outerid, ...ids, username, nickname, title, user_avatar }
      const ticket = await requestTicket(connection.send, parameters, context)
      context.addSecret(ticket)
      print(`ticket   ${ticket}`)
      print('valid    5 minutes, for one use')
      print(`redeem   ${service.authUrl ?? ''}/v2/oauth2/authorize?ticket=${encodeURIComponent(ticket)}`)
      print('         (in the browser of that person; add &redirect_uri=… to choose where it leads)')
    } else {
      const { channel = '', name } = values
      const menu = { name, type, rich_text: values['rich-text'], videos: vids?.map((vid) => ({ vid })) }
      const place = { channelId: channel, menuId: action === 'menu update' ? menuId : undefined }
      const saved = await saveMenu(connection.send, place, menu, context)
      print(`menu ${saved.menuId} of channel ${channel}: ${saved.result}`)
    }
    return 0
  },
)

/** Shows the first and last letters of a long token, which are enough to tell two tokens apart. */
function mask(token: string): string {
  const shown = token.length >= 16 ? `${token.slice(0, 4)}…${token.slice(-4)}` : '…'
  return `${shown} (${token.length} characters)`
}
