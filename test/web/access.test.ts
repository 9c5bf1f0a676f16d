import { describe, expect, test } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { silentLog } from '../../src/core/log.ts'
import { createAccess, readCookies, SESSION_COOKIE } from '../../src/web/access.ts'

const deps = { clock: systemClock, log: silentLog }
const none: ReadonlyMap<string, string> = new Map()

describe('without a token', () => {
  const access = createAccess(undefined, deps)

  test.each(['localhost', 'localhost:8787', '127.0.0.1:8787', '127.9.9.9', '[::1]:8787', 'LOCALHOST'])(
    '%s is this machine',
    (host) => expect(access.isHostKnown(host)).toBe(true),
  )

  test.each([undefined, '', 'evil.example', 'localhost.evil.example', '127.0.0.1.evil.example:80', '10.0.0.1'])(
    '%s is not',
    (host) => expect(access.isHostKnown(host)).toBe(false),
  )

  test('everybody on this machine may see, and nothing is the token', () => {
    expect(access.isAllowed(undefined, none)).toBe(true)
    expect(access.isToken('')).toBe(false)
    expect(access.session).toBeUndefined()
  })
})

describe('with a token', () => {
  const access = createAccess('s3cret', deps)

  test('the token opens, anything else does not', () => {
    expect(access.isAllowed('Bearer s3cret', none)).toBe(true)
    expect(access.isAllowed('bearer  s3cret', none)).toBe(true)
    for (const wrong of [
      undefined,
      '',
      'Bearer',
      'Bearer ',
      'Bearer s3cre',
      'Bearer s3cret x',
      'Basic s3cret',
      's3cret',
    ]) {
      expect(access.isAllowed(wrong, none), String(wrong)).toBe(false)
    }
  })

  test('the cookie opens and does not tell the token; that of another token does not open', () => {
    const cookie = (value: string) => new Map([[SESSION_COOKIE, value]])
    expect(access.isAllowed(undefined, cookie(access.session ?? ''))).toBe(true)
    expect(access.session).not.toContain('s3cret')
    expect(access.isAllowed(undefined, cookie(createAccess('other', deps).session ?? ''))).toBe(false)
    expect(access.isAllowed(undefined, cookie(''))).toBe(false)
    expect(access.isAllowed(undefined, cookie('s3cret'))).toBe(false)
  })

  test('any name will do: a foreign page has no cookie', () => {
    expect(access.isHostKnown('status.example.com')).toBe(true)
  })
})

test('cookies are read by name; what is none is left out', () => {
  expect([...readCookies('a=1; b=x=y;c; =d;  e = f ')]).toEqual([
    ['a', '1'],
    ['b', 'x=y'],
  ])
  expect(readCookies(undefined).size).toBe(0)
})
