import { expect, test } from 'vitest'
import { mendCredentials } from '../../src/store/database-url.ts'

test.each([
  ['postgres://u:a%zz@h/d', 'a%zz'],
  ['postgres://u:100%@h/d', '100%'],
  ['postgres://u:a%zz%40@h/d', 'a%zz@'],
  ['postgres://u:%ff@h/d', '%ff'],
  ['postgres://u:a%40b@h/d', 'a@b'],
])('the password of %s is %s', (url, password) => {
  expect(decodeURIComponent(new URL(mendCredentials(url)).password)).toBe(password)
})
