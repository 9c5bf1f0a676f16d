import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

test('the settings that are read are those of .env.example, by which others are told apart', () => {
  const readers = ['src/config.ts', ...readdirSync('src/config').map((file) => `src/config/${file}`)]
  const read = readers.flatMap((path) => readFileSync(path, 'utf8').match(/(?<=')LIVEHOUSE_[A-Z0-9_]+(?=')/g) ?? [])
  expect(new Set(read)).toEqual(new Set(readFileSync('.env.example', 'utf8').match(/\bLIVEHOUSE_[A-Z0-9_]+/g)))
})
