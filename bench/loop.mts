import process from 'node:process'
import { Client } from 'pg'
import { request } from 'undici'

/**
 * What a team would write by hand: page by page, each row's fields turned into columns, one multi-row upsert per page.
 * No retry, no proof, no state. The bench compares livehouse with it.
 */

const PAGE_SIZE = 100
const fields: readonly (readonly [column: string, field: string, read: (value: unknown) => unknown])[] = [
  ['user_id', 'user_id', (value) => value],
  ['assign_id', 'assign_id', emptyToNull],
  ['outer_id', 'outer_id', emptyToNull],
  ['nickname', 'nick', emptyToNull],
  ['address', 'addr', emptyToNull],
  ['phone', 'phone', emptyToNull],
  ['access_source', 'refer', emptyToNull],
  ['device', 'device', emptyToNull],
  ['browser', 'browser', emptyToNull],
  ['wx_openid', 'wx_openid', emptyToNull],
  ['last_ip', 'last_ip', emptyToNull],
  ['visit_count', 'visit_times', emptyToNull],
  ['share_count', 'share_times', emptyToNull],
  ['comment_count', 'comment_count', emptyToNull],
  ['watch_seconds', 'watch_time', seconds],
  ['live_seconds', 'live_time', seconds],
  ['vod_seconds', 'vod_time', seconds],
  ['live_watch_seconds', 'live_watch_time', emptyToNull],
  ['vod_watch_seconds', 'vod_watch_time', emptyToNull],
  ['online_seconds', 'online_time', emptyToNull],
  ['first_login_at', 'first_login_time', instant],
  ['last_online_at', 'last_online_time', instant],
]
const columns = ['channel_id', ...fields.map(([column]) => column), 'run_id']
const { LIVEHOUSE_BASE_URL: baseUrl = '', LIVEHOUSE_API_TOKEN: token = '', LIVEHOUSE_CHANNELS = '' } = process.env

function emptyToNull(value: unknown): unknown {
  return value === '' || value === undefined ? null : value
}

function seconds(value: unknown): unknown {
  if (typeof value !== 'string' || value === '') return null
  const [hours = 0, minutes = 0, rest = 0] = value.split(':').map(Number)
  return hours * 3600 + minutes * 60 + rest
}

function instant(value: unknown): unknown {
  return typeof value === 'string' && value !== '' ? new Date(`${value.replace(' ', 'T')}+08:00`) : null
}

function upsertOf(rows: number): string {
  const tuples = Array.from({ length: rows }, (_, row) => {
    const places = columns.map((_name, column) => `$${row * columns.length + column + 1}`)
    return `(${places.join(', ')})`
  })
  const updates = columns.slice(2).map((column) => `${column} = excluded.${column}`)
  return `insert into livehouse.visitors (${columns.join(', ')}) values ${tuples.join(', ')}
    on conflict (channel_id, user_id) do update set ${updates.join(', ')}, changed_at = now()`
}

const db = new Client({ connectionString: process.env.DATABASE_URL })
await db.connect()
for (const channel of LIVEHOUSE_CHANNELS.split(',')) {
  const url = `${baseUrl}/v2/activities/${channel}/visitorList`
  let lastPage = 1
  for (let page = 1; page <= lastPage; page += 1) {
    const answer = await request(url, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ filter: '0', direction: 'desc', perPage: PAGE_SIZE, p: page }),
    })
    const { total_page: pages, results } = Object(await answer.body.json())
    lastPage = Number(pages)
    const items: readonly Readonly<Record<string, unknown>>[] = results
    const values = items.flatMap((item) => [channel, ...fields.map(([, field, read]) => read(item[field])), 0])
    if (items.length > 0) await db.query(upsertOf(items.length), values)
  }
}
await db.end()
