import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { settingNames } from '../../src/config/setting-names.ts'

test('the settings are those of .env.example', () => {
  const example = readFileSync(new URL('../../.env.example', import.meta.url), 'utf8')
  expect([...settingNames].sort()).toEqual([...new Set(example.match(/\bLIVEHOUSE_[A-Z0-9_]+/g))].sort())
})
