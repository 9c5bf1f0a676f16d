import { judgeHealth } from '../../src/app/judge-health.ts'
import type { Language } from '../../src/core/column.ts'
import { DAY, wallTimeAt } from '../../src/core/wall-clock.ts'
import type { ListedChannel } from '../../src/ledger/channels.ts'
import type { LedgerUnit } from '../../src/ledger/latest-readings.ts'
import type { OpenReading } from '../../src/ledger/open-readings.ts'
import type { RunReport } from '../../src/ledger/runs/run-reports.ts'
import type { Facts } from '../../src/web/facts.ts'
import { messagesOf } from '../../src/web/messages.ts'
import type { View } from '../../src/web/render/view.ts'

export const TIME_ZONE = 'Asia/Shanghai'
/** 2026-11-20 14:30 in Shanghai. */
export const NOW_MS = Date.UTC(2026, 10, 20, 6, 30)
export const NOW = wallTimeAt(NOW_MS, TIME_ZONE)
/** 02:15 of that day. */
export const THIS_NIGHT = NOW - 12.25 * 3600

/** The watch records of one channel, covered from 40 days ago until last night. */
export function makeUnit(overrides: Partial<LedgerUnit> = {}): LedgerUnit {
  const unit: Omit<LedgerUnit, 'reach'> = {
    stream: 'watch_records',
    channelId: '9',
    proofs: ['verified'],
    isWindowed: true,
    since: NOW - 40 * DAY,
    until: THIS_NIGHT,
    gaps: 0,
    leastCovered: 'channel=9',
    lastLandedAt: new Date(NOW_MS - 12 * 3_600_000),
    lastLandedProof: 'verified',
    verifiedAt: new Date(NOW_MS - 12 * 3_600_000),
    lastRunId: '7',
    ...overrides,
  }
  const { isWindowed, until, lastLandedAt: at } = unit
  return { ...unit, reach: isWindowed ? until : at && wallTimeAt(at.getTime(), TIME_ZONE) }
}

export function makeChannel(overrides: Partial<ListedChannel> = {}): ListedChannel {
  return { channelId: '9', name: '频道', label: null, group: null, isTest: false, state: 'active', ...overrides }
}

export function makeReading(overrides: Partial<OpenReading> = {}): OpenReading {
  return {
    kind: 'problem',
    sliceId: '1',
    missingRows: null,
    acceptanceId: null,
    stream: 'watch_records',
    partition: 'channel=9',
    channelId: '9',
    window: { from: NOW - 3 * DAY, to: NOW - 2 * DAY },
    proof: 'short',
    reason: '9 of 10 rows came',
    ...overrides,
  }
}

export function makeRun(overrides: Partial<RunReport> = {}): RunReport {
  return {
    runId: '7',
    command: 'sync',
    status: 'ok',
    startedAt: new Date(NOW_MS - 12.5 * 3_600_000),
    finishedAt: new Date(NOW_MS - 12 * 3_600_000),
    resumesAt: null,
    streams: [],
    errorCount: 0,
    firstError: null,
    progress: null,
    ...overrides,
  }
}

/** One channel whose streams were all read last night. */
export function makeFacts(overrides: Partial<Facts> = {}): Facts {
  const account = { scope: 'account', used: 3, left: 7, spentAt: null }
  const walk = { isWindowed: false, since: null, until: null }
  const facts: Omit<Facts, keyof ReturnType<typeof judgeHealth>> = {
    readAtMs: NOW_MS,
    timeZone: TIME_ZONE,
    hasSource: true,
    now: NOW,
    channels: [makeChannel()],
    units: [
      makeUnit(),
      makeUnit({ stream: 'gifts', proofs: ['unverifiable', 'unverifiable'], verifiedAt: null }),
      makeUnit({ stream: 'visitors', ...walk }),
      makeUnit({ stream: 'questionnaires', ...walk }),
    ],
    open: [],
    openCounts: { gap: 0, problem: 0, accepted: 0 },
    problems: (overrides.open ?? []).flatMap(({ kind, stream, channelId }) =>
      kind === 'problem' ? [{ stream, channelId, readings: 1 }] : [],
    ),
    runs: [makeRun()],
    causes: [],
    activity: [{ day: '2026-11-20', stream: 'watch_records', inserted: 120, updated: 3, calls: 40, retries: 2 }],
    hourly: [{ hour: '2026-11-20 13:00:00', calls: 9, retries: 1 }],
    watched: [{ day: '2026-11-20', hours: 55.4 }],
    quarantine: [],
    acceptances: [],
    questions: new Map(),
    sizes: new Map([['watch_records', { rows: 1234, isExact: true }]]),
    jobs: [],
    budget: { serviceDay: '2026-11-20', budget: 10, scope: 'account', scopes: [account] },
    rangeOf: () => ({}),
    ...overrides,
  }
  return { ...facts, ...judgeHealth(facts) }
}

export function makeView(facts: Facts = makeFacts(), language: Language = 'en'): View {
  return { messages: messagesOf(language), facts, nowMs: facts.readAtMs, csrf: undefined }
}
