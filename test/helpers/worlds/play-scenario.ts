import { sql } from 'kysely'
import { DAY, formatWallDate } from '../../../src/core/wall-clock.ts'
import { findStream } from '../../../src/streams/registry.ts'
import { LOOKBACK_DAYS, SETTLE } from '../model/model-world.ts'
import type { Mutation } from '../model/schedule.ts'
import type { Fault } from '../../../src/emulator/faults.ts'
import type { TestDatabase } from '../postgres.ts'
import { type Asked, type Ended, openWorldAccount, type WorldAccount } from './account.ts'
import { type Before, createLaw, type Happened } from './law.ts'
import type { Scenario, Step } from './scenario.ts'
import { kindOf, renamedColumn, type Scene, type Trouble } from './troubles.ts'

const MINUTE_MS = 60_000
const DAY_MS = DAY * 1000
const HISTORY_DAYS = 9
/** Syncs of a world at rest that must suffice, and the hours before each. */
const REST_HOURS = [1.1, 1.1, 1.1, 24.5, 1.1, 1.1]

/** Four of these, and the ledger joins what it has of the first two. */
const LONG_NIGHT_DAYS = 3
/** Before another run takes over. */
const CHANGED_ROWS = 6
/** Of ten calls each, for the old records, after those for which a clock that is a month ahead has spent the calls. */
const MOST_WAITING_DAYS = 42

/** Plays one scenario and holds it to the law. @throws where it is broken */
export async function playScenario(database: TestDatabase, scenario: Scenario): Promise<void> {
  const { group, steps } = scenario
  await using account = await openWorldAccount(database, scenario)
  const { emulator, time } = account
  const all = steps.flatMap((step) => (step.kind === 'sync' ? step.troubles : []))
  const list = group === 'old' || group === 'managers' ? undefined : group
  const lookback = list ? LOOKBACK_DAYS[list] : 365
  const precision = {
    isToTheMinute: all.some(({ name }) => name === 'tells times to the minute'),
    without: ['occurrence', all.some(({ name }) => name === 'renames a field') ? (renamedColumn[group] ?? '') : ''],
  }
  const law = createLaw(account, lookback, precision, scenario.switches.ties === 'by-page')
  const channelIds = emulator.channelIds
  const start = account.now()
  const from = group === 'old' ? '2024-01-01' : formatWallDate(start - HISTORY_DAYS * DAY)
  const everything: Asked = { channels: channelIds, from }
  /** On which days a channel was not known; of all at once, none counts. */
  const unknownDays = new Map<string, Set<string>>()
  let isUnsound = false
  /** The lookback that reads what has changed late. */
  let latePending: number | undefined

  const change = (channel: number, mutation: Mutation, lookbackDays?: number) => {
    if (list) law.change(() => account.worlds[channel]?.mutate(list, mutation, account.now(), lookbackDays))
  }
  const removeOld = (pick: number) => {
    const [channel] = emulator.world.channels.values()
    const rows = channel?.oldRecords.rows ?? []
    const row = rows[pick % Math.max(1, rows.length)]
    if (row) law.change(() => channel?.oldRecords.remove(row))
  }

  const run = async (asked: Asked, troubles: readonly Trouble[] = []): Promise<Ended> => {
    let calls = 0
    const whenCalled: { readonly number: number; readonly act: () => void | Promise<void> }[] = []
    const held: { readonly before: Before; readonly happened: Happened }[] = []
    const ownAheadMs = time.ownAheadMs
    const isLie = troubles.some((trouble) => kindOf(trouble).lies)
    const scene: Scene = {
      group,
      list: account.list,
      channelIds,
      change: (mutation) => change(0, mutation),
      whenCalled: (number, act) => void whenCalled.push({ number, act }),
      moveClocks: ({ serviceMs = 0, ownMs = 0 }) => {
        time.serviceMs += serviceMs
        time.ownAheadMs += ownMs
      },
      dateAnswersAheadBy: (clockAheadMs, frontPageAgeMs = 0) =>
        void Object.assign(emulator.conditions, { clockAheadMs, frontPageAgeMs }),
      loseLeases: async () => {
        await sql`delete from livehouse_ops.leases`.execute(database.db)
        for (let pick = 0; pick < CHANGED_ROWS; pick++) change(0, { op: pick % 2 ? 'jump' : 'change', pick, age: 0 })
        const before = await law.beforeRun()
        const ended = await account.sync(everything)
        held.push({ before, happened: { asked: everything, ended, isLie, hasMore: latePending !== undefined } })
      },
    }
    const before = await law.beforeRun()
    const faults = troubles.flatMap((trouble) => kindOf(trouble).befall(trouble, scene))
    account.befall(faults)
    account.hooks.onCall = async () => {
      const number = ++calls
      for (const { number: at, act } of whenCalled) if (at === number) await act()
    }
    const ended = await account.sync(asked)
    account.hooks.onCall = async () => {}
    Object.assign(emulator.conditions, { clockAheadMs: 0, frontPageAgeMs: 0 })
    noteUnknown(faults, unknownDays, account)
    const isLost = (channel: string) => (unknownDays.get(channel)?.size ?? 0) >= 3
    const known = asked.channels.filter((channel) => !isLost(channel))
    const happened = { asked: { ...asked, channels: known }, ended, isLie, hasMore: latePending !== undefined }
    await law.afterRun(before, happened)
    if (!isLie) for (const { before: earlier, happened: inner } of held) await law.requireStill(earlier, inner)
    time.ownAheadMs = ownAheadMs
    const isHarmless = troubles.every((trouble) => kindOf(trouble).isHarmless)
    const isExcused = scenario.depth !== undefined || isUnsound
    if (isHarmless && !isExcused && ended.code !== 0 && ended.code !== 4)
      throw notGreen('a run that met nothing that harms it', ended)
    if (ended.code !== 0 || !isHarmless) isUnsound = true
    return ended
  }
  const runJob = async (troubles: readonly Trouble[] = []): Promise<Ended> => {
    const ended = await run({ ...everything, lookback: latePending }, troubles)
    if (ended.code === 0 && !troubles.some((trouble) => kindOf(trouble).lies)) latePending = undefined
    return ended
  }
  /** By day the list changes so, and gets a new row. */
  const playNights = async (nights: number, days: number, op?: Mutation['op']): Promise<void> => {
    for (let night = 0; night < nights; night++) {
      if (op) change(0, { op, pick: night, age: 50 })
      if (group === 'old' && op === 'remove') removeOld(night * 7)
      time.serviceMs += days * DAY_MS
      if (op) change(0, { op: 'add', pick: night, age: 100 + night })
      await run(everything)
    }
  }
  const play = async (step: Step): Promise<void> => {
    switch (step.kind) {
      case 'change':
        return group === 'old' ? removeOld(step.mutation.pick) : change(step.channel, step.mutation)
      case 'headers':
        return law.change(() => editHeaders(account, step.pick))
      case 'advance':
        time.serviceMs += step.minutes * MINUTE_MS
        return
      case 'nights':
        return await playNights(step.nights, step.days, step.op)
      case 'audit':
        return await audit(step.loses)
      case 'late':
        await run(everything)
        latePending = Math.max(step.lookback, latePending ?? 0)
        change(0, step.mutation, step.lookback - 1)
        return await playNights(step.nights, LONG_NIGHT_DAYS)
      case 'sync': {
        if (step.isJob && latePending !== undefined) return void (await runJob(step.troubles))
        const channels = channelIds.filter((_, place) => step.mask & (1 << place))
        const isShort = step.isShortHistory && group !== 'old'
        for (let number = 0; number < step.runs; number++)
          await run({ channels, from: isShort ? formatWallDate(start - 2 * DAY) : from }, step.troubles)
      }
    }
  }
  const audit = async (loses: number): Promise<void> => {
    account.befall([])
    const wasGreen = (await run(everything)).code === 0
    // Where as many rows are lost as are not counted, the numbers are equal.
    const lost = loses > 0 && scenario.cap === undefined ? await loseRows(account) : 0
    const first = await account.audit(everything)
    const isEqual = await law.isEqual()
    const isAllKnown = [...unknownDays.values()].every(({ size }) => size < 3)
    if (first.code === 0 && wasGreen && !isEqual && isAllKnown && lost > 0)
      throw new Error('an audit finds no difference where rows are lost')
    if (lost > 0 || reopens(first)) {
      isUnsound = true
      const second = await account.audit(everything)
      if (second.code === 0 && reopens(first))
        throw new Error('an audit is green before what it has reopened has been read again')
    }
  }

  for (const step of steps) await play(step)

  let last: Ended | undefined
  account.befall([])
  for (const hours of REST_HOURS) {
    time.serviceMs += hours * 60 * MINUTE_MS
    isUnsound = true
    last = await runJob()
  }
  for (let day = 0; day < MOST_WAITING_DAYS && last?.code === 4; day++) {
    time.serviceMs += DAY_MS
    last = await run(everything)
  }
  const isRefused = scenario.depth !== undefined && last?.code === 3
  if (last?.code !== 0 && !isRefused) throw notGreen('the last run at rest', last)
  if (!isRefused) await law.atRest()
}

function notGreen(what: string, ended: Ended | undefined): Error {
  return new Error(`${what} ended with ${ended?.code}: ${JSON.stringify(ended?.output.errors)} ${String(ended?.error)}`)
}

function reopens({ output }: Ended): boolean {
  const { partitions } = Object(output.audit)
  return Array.isArray(partitions) && partitions.some((each) => Object(each).reopened.length > 0)
}

function noteUnknown(faults: readonly Fault[], days: Map<string, Set<string>>, account: WorldAccount): void {
  for (const { effect, channelId } of faults) {
    if (channelId === undefined || !effect.name.includes('404002')) continue
    days.set(channelId, (days.get(channelId) ?? new Set()).add(formatWallDate(account.now())))
  }
}

/** A question is renamed, or two change places. */
function editHeaders({ emulator }: WorldAccount, pick: number): void {
  const [channel] = emulator.world.channels.values()
  const [form] = channel?.questionnaires.rows ?? []
  if (!channel || !form) return
  const [first, second, ...others] = form.questions
  const questions =
    pick % 3 === 0 && second !== undefined
      ? [second, first ?? '', ...others]
      : form.questions.with(0, `question ${pick}`)
  channel.questionnaires.replace(form, { ...form, questions })
}

/** The warehouse loses a row of those that are covered. @returns how many */
async function loseRows({ database, streams, time: { serviceMs } }: WorldAccount): Promise<number> {
  const name = streams.at(-1) ?? 'gifts'
  const stream = findStream(name)
  const table = sql.table(`livehouse.${stream?.table ?? name}`)
  const covered = new Date(serviceMs - SETTLE * 1000)
  const areOld = stream?.timeColumns.map((name) => sql`${sql.ref(name)} < ${covered}`) ?? []
  const old = areOld.length === 0 ? sql`` : sql`where ${sql.join(areOld, sql` and `)}`
  const { numAffectedRows } = await sql`
    delete from ${table} where ctid = (select ctid from ${table} ${old} order by ctid limit 1)`.execute(database.db)
  return Number(numAffectedRows ?? 0)
}
