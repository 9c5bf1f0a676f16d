import { sql } from 'kysely'
import { DAY, formatWallDate } from '../../../src/core/wall-clock.ts'
import type { Fault } from '../../../src/emulator/faults.ts'
import { findStream } from '../../../src/streams/registry.ts'
import { LOOKBACK_DAYS, SETTLE } from '../model/model-world.ts'
import type { Mutation } from '../model/schedule.ts'
import type { TestDatabase } from '../postgres.ts'
import { openWorldAccount, type RunEnd, type RunScope, type WorldAccount } from './account.ts'
import { createLaw, type RunFacts, type StateBefore } from './law.ts'
import type { Scenario, Step } from './scenario.ts'
import { kindOf, renamedColumn, type Scene, type Trouble } from './troubles.ts'

const MINUTE_MS = 60_000
const DAY_MS = DAY * 1000
const HISTORY_DAYS = 9
/** The hours before each of the syncs that must suffice once the world is at rest. */
const REST_HOURS = [1.1, 1.1, 1.1, 24.5, 1.1, 1.1]

/** After four nights this long, the ledger has merged the slices of the first two. */
const LONG_NIGHT_DAYS = 3
/** How many rows change before another run takes over. */
const CHANGED_ROWS = 6
/** Days of ten calls that the old records may need, after those whose calls a clock that is a month ahead has spent. */
const MOST_WAITING_DAYS = 42

/** Plays one scenario and checks the law. @throws if the law is broken */
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
  const everything: RunScope = { channels: channelIds, from }
  /** The days on which a channel was unknown; days on which all were do not count. */
  const unknownDays = new Map<string, Set<string>>()
  let isUnsound = false
  /** The lookback of the job that still has to read late changes. */
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

  const run = async (scope: RunScope, troubles: readonly Trouble[] = []): Promise<RunEnd> => {
    let calls = 0
    const whenCalled: { readonly number: number; readonly act: () => void | Promise<void> }[] = []
    const innerRuns: { readonly before: StateBefore; readonly facts: RunFacts }[] = []
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
        const end = await account.sync(everything)
        innerRuns.push({ before, facts: { scope: everything, end, isLie, hasMore: latePending !== undefined } })
      },
    }
    const before = await law.beforeRun()
    const faults = troubles.flatMap((trouble) => kindOf(trouble).start(trouble, scene))
    account.setFaults(faults)
    account.hooks.onCall = async () => {
      const number = ++calls
      for (const { number: at, act } of whenCalled) if (at === number) await act()
    }
    const end = await account.sync(scope)
    account.hooks.onCall = async () => {}
    Object.assign(emulator.conditions, { clockAheadMs: 0, frontPageAgeMs: 0 })
    noteUnknown(faults, unknownDays, account)
    const isLost = (channel: string) => (unknownDays.get(channel)?.size ?? 0) >= 3
    const channels = scope.channels.filter((channel) => !isLost(channel))
    const facts = { scope: { ...scope, channels }, end, isLie, hasMore: latePending !== undefined }
    await law.afterRun(before, facts)
    if (!isLie) for (const inner of innerRuns) await law.requireStill(inner.before, inner.facts)
    time.ownAheadMs = ownAheadMs
    const isHarmless = troubles.every((trouble) => kindOf(trouble).isHarmless)
    const isExcused = scenario.depth !== undefined || isUnsound
    if (isHarmless && !isExcused && end.code !== 0 && end.code !== 4)
      throw notGreen('a run that met only harmless troubles', end)
    if (end.code !== 0 || !isHarmless) isUnsound = true
    return end
  }
  const runJob = async (troubles: readonly Trouble[] = []): Promise<RunEnd> => {
    const end = await run({ ...everything, lookback: latePending }, troubles)
    if (end.code === 0 && !troubles.some((trouble) => kindOf(trouble).lies)) latePending = undefined
    return end
  }
  /** Syncs in each of these nights. With `op`, the list changes and gets a new row before each sync. */
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
    account.setFaults([])
    const wasGreen = (await run(everything)).code === 0
    // If as many rows are lost as a capped total leaves out, the numbers are equal.
    const lost = loses > 0 && scenario.cap === undefined ? await loseRows(account) : 0
    const first = await account.audit(everything)
    const isEqual = await law.isEqual()
    const isAllKnown = [...unknownDays.values()].every(({ size }) => size < 3)
    if (first.code === 0 && wasGreen && !isEqual && isAllKnown && lost > 0)
      throw new Error('an audit finds no difference although rows are lost')
    if (lost > 0 || reopens(first)) {
      isUnsound = true
      const second = await account.audit(everything)
      if (second.code === 0 && reopens(first))
        throw new Error('an audit is green before what it has reopened has been read again')
    }
  }

  for (const step of steps) await play(step)

  let last: RunEnd | undefined
  account.setFaults([])
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

function notGreen(what: string, end: RunEnd | undefined): Error {
  return new Error(`${what} ended with ${end?.code}: ${JSON.stringify(end?.output.errors)} ${String(end?.error)}`)
}

function reopens({ output }: RunEnd): boolean {
  const { partitions } = Object(output.audit)
  return Array.isArray(partitions) && partitions.some((each) => Object(each).reopened.length > 0)
}

function noteUnknown(faults: readonly Fault[], days: Map<string, Set<string>>, account: WorldAccount): void {
  for (const { effect, channelId } of faults) {
    if (channelId === undefined || !effect.name.includes('404002')) continue
    days.set(channelId, (days.get(channelId) ?? new Set()).add(formatWallDate(account.now())))
  }
}

/** Renames a question, or swaps two. */
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

/** Deletes one covered row from the warehouse, if there is one. @returns how many it has deleted */
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
