import { describe, expect, test } from 'vitest'
import { rawCall } from '../helpers/raw-call.ts'
import { type EmulatedService, FIXED_NOW, startEmulatedService } from '../helpers/emulated-service.ts'

type Fields = Readonly<Record<string, unknown>>

/** The rows of all pages, each field as it came; ids keep their digits. */
async function readAll(service: EmulatedService, path: string, field: string, body: object): Promise<Fields[]> {
  const rows: Fields[] = []
  for (let p = 1; ; p += 1) {
    const paging = path.includes('signup') ? { page_index: p, page_size: 50 } : { p, perPage: 100 }
    const { text } = await service.call('POST', path, { ...body, ...paging })
    const json = JSON.parse(text.replace(/"record_id":(\d+)/g, '"record_id":"$1"'))
    const page: Fields[] = field === '' ? json : json[field]
    if (page.length === 0) return rows
    rows.push(...page)
  }
}

const seconds = (duration: unknown) =>
  String(duration)
    .split(':')
    .reduce((total, part) => total * 60 + Number(part), 0)
const instant = (text: unknown) =>
  new Date(`${String(text).replace(' ', 'T')}+08:00`).toISOString().replace('.000Z', 'Z')
const none = (value: unknown) => (value === '' || value === undefined ? null : value)
const sorted = (rows: readonly object[]) =>
  rows.map((row) => JSON.stringify(Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1)))).sort()
const withoutOccurrence = (rows: readonly Fields[]) =>
  rows.map((row) => Object.fromEntries(Object.entries(row).filter(([name]) => name !== 'occurrence')))

describe('the truth is what a reader of the endpoints ends up with', () => {
  test('visitors', async () => {
    await using service = await startEmulatedService({ channels: 1 })
    const rows = await readAll(service, '/v2/activities/:channel/visitorList', 'results', { filter: '0' })
    const read = rows.map((row) => ({
      channel_id: String(row['id']),
      user_id: row['user_id'],
      assign_id: none(row['assign_id']),
      outer_id: none(row['outer_id']),
      nickname: none(row['nick']),
      address: none(row['addr']),
      phone: none(row['phone']),
      access_source: none(row['refer']),
      device: row['device'],
      browser: row['browser'],
      wx_openid: none(row['wx_openid']),
      last_ip: row['last_ip'],
      visit_count: row['visit_times'],
      share_count: row['share_times'],
      comment_count: row['comment_count'],
      watch_seconds: seconds(row['watch_time']),
      live_seconds: seconds(row['live_time']),
      vod_seconds: seconds(row['vod_time']),
      live_watch_seconds: row['live_watch_time'],
      vod_watch_seconds: row['vod_watch_time'],
      online_seconds: row['online_time'],
      first_login_at: instant(row['first_login_time']),
      last_online_at: instant(row['last_online_time']),
    }))
    const truth = service.emulator.truth()
    expect(sorted(read)).toEqual(sorted(truth.visitors))
    const [channel] = truth.channels
    expect(channel).toEqual({
      channel_id: String(rows[0]?.['id']),
      name: rows[0]?.['name'],
      admin_id: String(rows[0]?.['uin']),
    })
  })

  test.each([
    ['userRecordList', '/v2/activities/:channel/userRecordList', 'results', 'watch_records', 2],
    ['userRecords', '/v1/activities/:channel/userRecords', '', 'watch_records_v1', 1],
  ] as const)('watch records of %s', async (_, path, field, table, version) => {
    await using service = await startEmulatedService({ channels: 1 })
    const rows = await readAll(service, path, field, { filter_watch_time: 0 })
    const read = rows.map((row) => ({
      channel_id: service.channelId,
      record_id: row['record_id'],
      user_id: row['user_id'],
      assign_id: none(row['assign_id']),
      outer_id: none(row['outer_id']),
      nickname: none(row['nick']),
      address: none(row['addr']),
      phone: none(row['phone']),
      device: row['device'],
      browser: row['browser'],
      access_source: row['origin'],
      online_seconds: seconds(row['online_time']),
      watch_seconds: seconds(row['watch_time']),
      live_seconds: version === 1 ? null : seconds(row['live_time']),
      vod_seconds: version === 1 ? null : seconds(row['vod_time']),
      entered_at: instant(row['first_login_time']),
      left_at: instant(row['last_online_time']),
      api_version: version,
    }))
    expect(read.length).toBeGreaterThan(20)
    expect(sorted(read)).toEqual(sorted(service.emulator.truth()[table]))
  })

  test.each(['some', 'always', 'never'] as const)('gifts, with a visitor on %s rows', async (giftVisitor) => {
    await using service = await startEmulatedService({ channels: 1, viewers: 600, switches: { giftVisitor } })
    const read: object[] = []
    for (const type of ['cash', 'prop']) {
      for (const row of await readAll(service, '/v1/activities/:channel/giftRunning', '', { type })) {
        read.push({
          channel_id: service.channelId,
          gift_type: type,
          given_at: instant(row['uptime']),
          gift_id: String(row['gift_id']),
          visitor_id: none(row['visitor_id']),
          visitor_name: none(row['name']),
          phone: none(row['phone']),
          amount: row['money'],
        })
      }
    }
    const truth = service.emulator.truth().gifts
    expect(sorted(read)).toEqual(sorted(withoutOccurrence(truth)))
    expect(truth.some(({ occurrence }) => occurrence === 2)).toBe(true)
    expect(truth.some((row) => row['visitor_id'] === null)).toBe(giftVisitor !== 'always')
    expect(truth.some((row) => row['visitor_id'] !== null)).toBe(giftVisitor !== 'never')
  })

  test('questionnaires, signups and their answers', async () => {
    await using service = await startEmulatedService({ channels: 1, viewers: 300 })
    const { json } = await service.call('GET', '/v1/activities/:channel/getQuestionList', { page_size: 100 })
    const forms: Fields[] = Reflect.get(Object(json), 'question_list')
    const questionnaires = forms.map((form) => ({
      channel_id: service.channelId,
      question_id: form['question_id'],
      name: none(form['name']),
      position: form['position'],
      is_open: form['status'] === 1,
      created_at: new Date(String(form['created_at'])).toISOString().replace('.000Z', 'Z'),
    }))
    const truth = service.emulator.truth()
    expect(sorted(questionnaires)).toEqual(sorted(truth.questionnaires))

    const signups: object[] = []
    const answers: object[] = []
    for (const { question_id } of questionnaires) {
      const path = '/v1/activities/:channel/signupRecord'
      const { json: first } = await service.call('POST', path, { question_id })
      const title: string[] = Reflect.get(Object(first), 'title')
      for (const row of await readAll(service, path, 'data', { question_id })) {
        const cells = Object.values(row)
        const parent = { channel_id: service.channelId, question_id }
        const person = { user_id: none(cells[0]), signed_up_at: instant(cells.at(-1)) }
        const pairs = title
          .slice(3, -1)
          .map((question, index) => ({ question: none(question), answer: none(cells[index + 3]) }))
        signups.push({ ...parent, ...person, nickname: none(cells[1]), phone: none(cells[2]), answers: pairs })
        for (const [index, pair] of pairs.entries())
          answers.push({ ...parent, ...person, question_no: index + 1, ...pair })
      }
    }
    expect(signups.length).toBeGreaterThan(20)
    expect(sorted(signups)).toEqual(sorted(withoutOccurrence(truth.signups)))
    expect(sorted(answers)).toEqual(sorted(withoutOccurrence(truth.signup_answers)))
  })

  test('managers and their usage on the service day', async () => {
    await using service = await startEmulatedService()
    const { json } = await service.call('GET', '/v1/account/managers?perPage=100')
    const rows: Fields[] = Reflect.get(Object(json), 'data')
    const truth = service.emulator.truth()
    const read = rows.map((row) => ({
      manager_id: String(row['id']),
      username: row['username'],
      main_account_id: String(row['belong_to']),
      limit_type: row['limit_type'],
      traffic_limit: String(row['transfer_limit']),
      time_limit: String(row['time_limit']),
      pay_type: row['pay_type'],
    }))
    expect(sorted(read)).toEqual(sorted(truth.managers))
    const usage = await service.call('GET', '/v1/account/managersUsage?perPage=1&p=2')
    const wire: Fields = Reflect.get(Object(usage.json), 'data')[0]
    expect(truth.manager_usage[1]).toEqual({
      manager_id: String(wire['id']),
      snapshot_date: '2026-11-20',
      username: wire['username'],
      created_on: wire['create_date'],
      main_account_id: String(wire['belong_to']),
      channel_count: wire['act_num'],
      last_login_at: wire['last_login_time'] === '' ? null : instant(wire['last_login_time']),
      last_push_at: wire['last_push_stream_time'] === '' ? null : instant(wire['last_push_stream_time']),
      cost_limit_notification: wire['cost_limit_notification'] === 1,
      limit_type: wire['limit_type'],
      outer_id: none(wire['outer_id']),
      redpack_enabled: wire['is_open_redpack'],
      live_notify_enabled: wire['is_open_live_notify'],
      cost_type: wire['costType'],
      cost_limit: String(wire['costLimit']),
      cost_total_watch: String(wire['costTotalWatchTime']),
      cost_vod_watch: String(wire['costVodWatchTime']),
      cost_live_watch: String(wire['costLiveWatchTime']),
      cost_transfer: String(wire['costTransfer']),
    })
    expect(FIXED_NOW).toBe(Date.parse('2026-11-20T14:30:00+08:00'))
  })
})

describe('another process can read the truth', () => {
  test('whole, by table, and as counts', async () => {
    await using service = await startEmulatedService()
    const read = (path: string) => rawCall({ url: `${service.emulator.baseUrl}/__truth${path}` })
    const truth = service.emulator.truth()
    const whole = await read('')
    expect(whole.json).toEqual(truth)
    expect((await read('/gifts')).json).toEqual(truth.gifts)
    const counts = Object.fromEntries(Object.entries(truth).map(([table, rows]) => [table, rows.length]))
    expect((await read('/counts')).json).toEqual(counts)
    expect((await read('/nothing')).status).toBe(404)
    expect(service.emulator.calls).toHaveLength(0)
  })
})
