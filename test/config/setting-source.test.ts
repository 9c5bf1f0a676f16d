import { chmodSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createSettingSource, describeOpenFile } from '../../src/config/setting-source.ts'
import { createTemporaryFile, createTemporaryFolder } from '../helpers/temporary-folder.ts'

const temporaryFile = (content: string) => createTemporaryFile('token', content)

test.each([
  ['/nowhere/token', 'TOKEN_FILE names /nowhere/token, which cannot be read (there is no such file); it should hold'],
  ['/', 'TOKEN_FILE names /, which cannot be read (it is a folder)'],
  [temporaryFile('\n'), 'which is empty; it should hold the value of TOKEN'],
])('a value that cannot be read from the file %s is reported once', (path, problem) => {
  const source = createSettingSource({ TOKEN_FILE: path })
  expect([source.value('TOKEN'), source.value('TOKEN')]).toEqual([undefined, undefined])
  expect(source.isSet('TOKEN')).toBe(true)
  expect(source.problems()).toEqual([expect.stringContaining(problem)])
})

test('a value may come from a file, less its final line feed, but not from both; a blank one is not set', () => {
  const source = createSettingSource({ TOKEN_FILE: temporaryFile('from-file\n') })
  expect([source.value('TOKEN'), source.problems()]).toEqual(['from-file', []])
  const both = createSettingSource({ TOKEN: 'a', TOKEN_FILE: temporaryFile('b') })
  expect(both.value('TOKEN')).toBeUndefined()
  expect(both.problems()).toEqual(['TOKEN and TOKEN_FILE are both set; it should be one of them'])
  const blank = createSettingSource({ TOKEN: ' ', TOKEN_FILE: '' })
  expect([blank.value('TOKEN'), blank.isSet('TOKEN'), blank.problems()]).toEqual([undefined, false, []])
})

test('a file that everybody may change is refused for root only, also one in a folder', () => {
  const folder = createTemporaryFolder('job-files')
  const path = join(folder, 'imported-by-a-job.json')
  writeFileSync(path, '')
  expect(describeOpenFile(folder, 0)).toBeUndefined()
  chmodSync(path, 0o666)
  for (const given of [path, folder]) {
    expect(describeOpenFile(given, 1000)).toBeUndefined()
    expect(describeOpenFile(given, 0)).toContain(`chmod o-w ${path}`)
  }
})

test('the settings that are read are those of .env.example', () => {
  const readers = ['src/config.ts', ...readdirSync('src/config').map((file) => `src/config/${file}`)]
  const read = readers.flatMap((path) => readFileSync(path, 'utf8').match(/(?<=')LIVEHOUSE_[A-Z0-9_]+(?=')/g) ?? [])
  expect(new Set(read)).toEqual(new Set(readFileSync('.env.example', 'utf8').match(/\bLIVEHOUSE_[A-Z0-9_]+/g)))
})
