import { expect, test } from 'vitest'
import { runPage } from '../../../src/web/render/run-page.ts'
import { makeRun, makeView, NOW_MS } from '../../helpers/status-facts.ts'

test('an alert that stands since a run is told of that run, whatever later ones have added to it', () => {
  const problems = [{ stream: 'gifts', code: 'api.status', count: 3 }]
  const causes = [
    { kind: 'run', name: 'sync', status: 'failed', runId: '9', problems },
    { kind: 'run', name: 'run nightly', status: 'failed', runId: '6', problems },
  ] as const
  const details = {
    asked: {},
    held: [],
    errors: [],
    slices: { rows: [], page: 1, hasMore: false },
    alerts: causes.map((cause) => ({ cause, raisedAt: new Date(NOW_MS), clearedAt: null })),
  }
  const page = runPage(makeView(), makeRun({ runId: '5', status: 'partial' }), details).toString()
  expect(page).toContain('livehouse sync ended partial (run 5). See')
  expect(page).toContain('livehouse run nightly ended failed (run 6): gifts')
})
