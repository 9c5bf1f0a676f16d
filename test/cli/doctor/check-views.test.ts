import { expect, test } from 'vitest'
import { judgeViews, type SeenViews } from '../../../src/cli/doctor/check-views.ts'

const well: SeenViews = {
  pending: { views: 'current', forms: [], inTheWay: [], masked: ['phone', 'ip'] },
  rights: { missingSchemas: [], foreignSchemas: [], foreignViews: [], missingRoles: [] },
  canMigrate: true,
  isAutoMigrated: true,
}
const { rights } = well
const outdated = { ...well.pending, views: 'outdated' } as const
const missing = { ...well.pending, views: 'missing' } as const

test.each<[string, Partial<SeenViews>, string, RegExp, RegExp | null]>([
  ['views that are there', {}, 'ok', /18 views; masked: phone, ip$/, null],
  ['nothing masked', { pending: { ...well.pending, masked: [] } }, 'ok', /nothing is masked$/, null],
  ['none yet, to be made', { pending: missing }, 'ok', /not there yet; the next sync/, null],
  [
    'none, and not by themselves',
    { pending: missing, isAutoMigrated: false },
    'warning',
    /not there yet$/,
    /migrate up/,
  ],
  ['none, tables of a DBA', { pending: missing, canMigrate: false }, 'warning', /not there yet$/, /migrate sql/],
  ['older ones, to be made', { pending: outdated }, 'ok', /not that of this livehouse; the next sync/, null],
  [
    'older ones, and not by themselves',
    { pending: outdated, isAutoMigrated: false },
    'failed',
    /not that/,
    /migrate up/,
  ],
  ['older ones, tables of a DBA', { pending: outdated, canMigrate: false }, 'failed', /not that/, /migrate sql/],
  [
    'no right on the schema',
    { pending: outdated, rights: { ...rights, foreignSchemas: ['livehouse_bi'] } },
    'failed',
    /not that/,
    /doctor --grants.*livehouse_bi/,
  ],
  [
    'a view of somebody else',
    { pending: { ...outdated, inTheWay: ['mine'] } },
    'failed',
    /not that/,
    /definition of mine .*drop it, run `livehouse migrate up`/,
  ],
  [
    'a questionnaire with other headers',
    { pending: { ...well.pending, forms: ['form_q'] }, isAutoMigrated: false },
    'failed',
    /livehouse_forms.form_q/,
    /migrate up/,
  ],
])('%s', (_, changes, result, seen, mend) => {
  const [check, ...others] = judgeViews({ ...well, ...changes })
  expect(others).toEqual([])
  expect(check).toMatchObject({ name: 'views', result, seen: expect.stringMatching(seen) })
  expect(check?.mend ?? 'none').toMatch(mend ?? /^none$/)
})

test('roles that this user may not create come with the SQL for a DBA', () => {
  const lacking = { ...rights, missingRoles: ['livehouse_analyst', 'livehouse_pii'] }
  expect(judgeViews({ ...well, rights: lacking })[1]).toMatchObject({
    name: 'roles',
    result: 'warning',
    mend: expect.stringContaining('create role livehouse_analyst nologin; create role livehouse_pii nologin;'),
  })
})
