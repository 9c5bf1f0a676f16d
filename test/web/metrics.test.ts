import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Facts } from '../../src/web/facts.ts'
import { createStatusMetrics } from '../../src/web/metrics.ts'
import { makeChannel, makeFacts, makeReading, makeRun, makeUnit, NOW_MS, TIME_ZONE } from '../helpers/status-facts.ts'

const create = () => createStatusMetrics('1.2.3')

async function render(metrics: ReturnType<typeof create>, facts = makeFacts()): Promise<string> {
  return (await metrics.render({ facts, isDatabaseUp: true, nowMs: NOW_MS })).text
}

/** The value of a series, as it is written. */
function valueOf(text: string, series: string): string | undefined {
  const line = text.split('\n').find((each) => each.startsWith(`${series} `))
  return line?.slice(series.length + 1)
}

test('the calls of this process are counted by endpoint and outcome, as are refusals and durations', async () => {
  const metrics = create()
  metrics.onCall({ endpoint: 'visitorList', outcome: 'ok', elapsedMs: 40 })
  metrics.onCall({ endpoint: 'visitorList', outcome: 'ok', elapsedMs: 300 })
  metrics.onCall({ endpoint: 'visitorList', outcome: 'api.rateLimited', elapsedMs: 5 })
  const text = await render(metrics)
  expect(valueOf(text, 'livehouse_calls_total{endpoint="visitorList",outcome="ok"}')).toBe('2')
  expect(valueOf(text, 'livehouse_refusals_total{endpoint="visitorList"}')).toBe('1')
  expect(valueOf(text, 'livehouse_call_duration_seconds_bucket{le="0.05",endpoint="visitorList"}')).toBe('1')
  expect(valueOf(text, 'livehouse_call_duration_seconds_count{endpoint="visitorList"}')).toBe('2')
})

test('the last run is shown with the outcomes of its rows and slices, without those of the run before', async () => {
  const counts = { extracted: 9, inserted: 5, updated: 1, unchanged: 1, removed: 0, quarantined: 2, degraded: 0 }
  const gifts = { stream: 'gifts', counts: { ...counts, calls: 12, retries: 4 }, slices: { failed: 1 } }
  const metrics = create()
  const text = await render(metrics, makeFacts({ runs: [makeRun({ status: 'partial', streams: [gifts] })] }))
  expect(valueOf(text, 'livehouse_last_run_rows{stream="gifts",outcome="inserted"}')).toBe('5')
  expect(valueOf(text, 'livehouse_last_run_rows{stream="gifts",outcome="quarantined"}')).toBe('2')
  expect(valueOf(text, 'livehouse_last_run_slices{stream="gifts",proof="failed"}')).toBe('1')
  expect(valueOf(text, 'livehouse_last_run_status{status="partial"}')).toBe('1')
  const after = await render(metrics, makeFacts({ runs: [makeRun()] }))
  expect(after).not.toMatch(/livehouse_last_run_rows\{|status="partial"/)
})

test('the gauges show how fresh and how well proven each stream is', async () => {
  const units = [
    makeUnit(),
    makeUnit({ channelId: '10', verifiedAt: new Date(NOW_MS - 60_000), gaps: 2, proofs: ['short'] }),
    makeUnit({ stream: 'gifts', verifiedAt: null, proofs: ['unverifiable', 'unverifiable'] }),
  ]
  const text = await render(create(), makeFacts({ units, open: [makeReading(), makeReading({ kind: 'gap' })] }))
  expect(valueOf(text, 'livehouse_seconds_since_last_verified_slice{stream="watch_records"}')).toBe('60')
  expect(text).not.toContain('livehouse_seconds_since_last_verified_slice{stream="gifts"}')
  expect(valueOf(text, 'livehouse_seconds_behind{stream="watch_records"}')).toBe('44100')
  expect(valueOf(text, 'livehouse_gaps{stream="watch_records"}')).toBe('2')
  expect(valueOf(text, 'livehouse_open_problems{stream="watch_records"}')).toBe('1')
  expect(valueOf(text, 'livehouse_v1_budget_left')).toBe('7')
  expect(valueOf(text, 'livehouse_is_complete')).toBe('0')
  expect(valueOf(text, 'livehouse_last_run_status{status="ok"}')).toBe('1')
})

test('a stream with a part that was never read is infinitely far behind, except during the first sync', async () => {
  const units = [makeUnit(), makeUnit({ channelId: '10', until: null, proofs: ['failed'] })]
  const behindOf = async (facts: Partial<Facts>, stream = 'watch_records') =>
    valueOf(await render(create(), makeFacts(facts)), `livehouse_seconds_behind{stream="${stream}"}`)
  expect(await behindOf({ units })).toBe('+Inf')
  // A channel, or a stream that a job is to read, without any slice.
  const channels = [makeChannel(), makeChannel({ channelId: '10' })]
  expect(await behindOf({ channels, units: [makeUnit()] })).toBe('+Inf')
  expect(await behindOf({ units: [makeUnit()] })).toBe('44100')
  const job = { name: 'nightly', cron: '15 2 * * *', timeZone: TIME_ZONE, next: undefined, last: undefined }
  const jobs = [{ ...job, channels: 'all', streams: ['managers'] }] as const
  expect(await behindOf({ jobs, units: [makeUnit()] }, 'managers')).toBe('+Inf')
  const runs = [makeRun({ status: 'running', startedAt: new Date(NOW_MS), finishedAt: null })]
  expect(await behindOf({ units, runs })).toBeUndefined()
})

test('a thousand channels make no more series than one, and no label contains a name or an id', async () => {
  const series = (text: string) => text.split('\n').filter((line) => line.startsWith('livehouse_')).length
  const channels = Array.from({ length: 1000 }, (_, index) => makeChannel({ channelId: `secret-${index}` }))
  const units = channels.flatMap(({ channelId }) => makeFacts().units.map((unit) => ({ ...unit, channelId })))
  const large = await render(create(), makeFacts({ channels, units }))
  expect(series(large)).toBe(series(await render(create())))
  expect(large).not.toMatch(/secret|频道/)
})

test.each(['grafana-dashboard.json', 'prometheus-rules.yaml'])('%s uses only metrics that exist', async (name) => {
  const text = await render(create())
  const existing = new Set(
    [...text.matchAll(/^# TYPE (\S+) (\S+)/gm)].flatMap(([, metric = '', type]) =>
      type === 'histogram' ? [`${metric}_bucket`, `${metric}_sum`, `${metric}_count`] : [metric],
    ),
  )
  const example = readFileSync(join(import.meta.dirname, '../../docs/examples', name), 'utf8')
  const used = new Set(example.match(/\b(?:livehouse|process|nodejs)_[a-z0-9_]+/g))
  expect(used.size).toBeGreaterThan(5)
  for (const metric of used) expect(existing, metric).toContain(metric)
})
