import { expect, test } from 'vitest'
import { channelPage } from '../../../src/web/render/channel-page.ts'
import { runPage } from '../../../src/web/render/run-page.ts'
import { makeChannel, makeFacts, makeReading, makeRun, makeView, NOW_MS } from '../../helpers/status-facts.ts'

const details = { asked: {}, held: [], errors: [], alerts: [], slices: { rows: [], page: 1, hasMore: false } }

test('the page of a run shows its alert as of that run, without what later runs have added', () => {
  const problems = [{ stream: 'gifts', code: 'api.status', count: 3 }]
  const causes = [
    { kind: 'run', name: 'sync', status: 'failed', runId: '9', problems },
    { kind: 'run', name: 'run nightly', status: 'failed', runId: '6', problems },
  ] as const
  const alerts = causes.map((cause) => ({ cause, raisedAt: new Date(NOW_MS), clearedAt: null }))
  const page = runPage(makeView(), makeRun({ runId: '5', status: 'partial' }), { ...details, alerts }).toString()
  expect(page).toContain('livehouse sync ended partial (run 5). See')
  expect(page).toContain('livehouse run nightly ended failed (run 6): gifts')
  // Empty sections are placeholders, which the script of the page fills later.
  for (const part of ['errors', 'slices']) expect(page).toContain(`<section id="${part}" data-renew hidden></section>`)
})

test('a Chinese page says in Chinese what went wrong, before the English message', () => {
  const message = 'giftRunning channel 9 page 3: 502 after 5 attempts'
  const errors = [{ stream: 'gifts', partition: 'channel=9', code: 'api.status', message }] as const
  const run = makeRun({ errorCount: 1 })
  const expected = `<b>服务返回错误</b> <span lang="en"><bdi>${message}</bdi></span>`
  expect(runPage(makeView(undefined, 'zh'), run, { ...details, errors }).toString()).toContain(expected)
  expect(runPage(makeView(), run, { ...details, errors }).toString()).not.toContain('<b>')
  const view = makeView(makeFacts({ openCounts: { problem: 1, gap: 0, accepted: 0 } }), 'zh')
  const readings = { ...view.facts, open: [makeReading({ proof: 'failed', reason: message })] }
  expect(channelPage(view, makeChannel(), readings).toString()).toContain(expected)
})
