import { expect, test } from 'vitest'
import { readChannels, readChannelsIfAny } from '../../src/config/read-channels.ts'
import { createSettingSource } from '../../src/config/setting-source.ts'
import { readSettings } from '../../src/config.ts'
import { createTemporaryFile } from '../helpers/temporary-folder.ts'

const plain = { label: null, group: null, from: null, until: null, isTest: false }

const channelsFile = (content: string | Uint8Array) => `@${createTemporaryFile('channels.csv', content)}`

function read(value: string) {
  return readSettings({ LIVEHOUSE_CHANNELS: value }, readChannels)
}

function problemsOf(value: string): readonly string[] {
  const source = createSettingSource({ LIVEHOUSE_CHANNELS: value })
  readChannels(source)
  return source.problems()
}

test('channels are read from a list, or from CSV with columns in any order, quotes, comments and a BOM', () => {
  expect(read(' 9, 10 ,a-b_c')).toEqual(['9', '10', 'a-b_c'].map((channelId) => ({ channelId, ...plain })))
  expect(readSettings({}, readChannelsIfAny)).toEqual([])
  const file = channelsFile(
    '\ufeff# ours\nlabel,channel_id,until,from,is_test,group\n"大会, ""春""",9,2026-02-01,2026-01-01,true,A#1\n\n,10,2026-03-01,2026-03-01,,\n',
  )
  expect(read(file)).toEqual([
    { channelId: '9', label: '大会, "春"', group: 'A#1', from: '2026-01-01', until: '2026-02-01', isTest: true },
    { channelId: '10', ...plain, from: '2026-03-01', until: '2026-03-01' },
  ])
})

test.each<[string, Uint8Array]>([
  ['GBK, as a Chinese spreadsheet saves it', Buffer.from('6368616e6e656c5f69642c6c6162656c0a392cb4f3bbe10a', 'hex')],
  ['UTF-16 with tabs', Buffer.from('\ufeffchannel_id\tlabel\r\n9\t大会\r\n', 'utf16le')],
  ['UTF-16 in the other byte order', Buffer.from('\ufeffchannel_id,label\n9,大会\n', 'utf16le').swap16()],
  ['UTF-16 without a mark', Buffer.from('channel_id,label\n9,大会\n', 'utf16le')],
  ['UTF-16 without a mark in the other byte order', Buffer.from('channel_id,label\n9,大会\n', 'utf16le').swap16()],
  ['semicolons and mixed line ends', Buffer.from('channel_id;label\r\n9;大会\n# ours\n')],
])('a file is read: %s', (_, content) => {
  expect(read(channelsFile(content))).toEqual([{ ...plain, channelId: '9', label: '大会' }])
})

test.each([
  ['', 'LIVEHOUSE_CHANNELS is not set'],
  ['9,,10', 'LIVEHOUSE_CHANNELS: entry 2: an id is empty'],
  ['9,10,9', 'entry 3: channel 9 is listed twice'],
  ['9/../8', 'entry 1: "9/../8" is not a channel id'],
  ['@/nowhere/ids', 'the file /nowhere/ids cannot be read (there is no such file)'],
  ['@/', 'the file / cannot be read (it is a folder)'],
  ['nowhere.csv', '"nowhere.csv" looks like a file; it should be @nowhere.csv'],
  ['./ids', '"./ids" looks like a file; it should be @./ids'],
])('a problem is reported with its position: %j', (value, problem) => {
  expect(problemsOf(value)).toEqual([expect.stringContaining(problem)])
})

test.each([
  ['9\n10\n9\n', 'channels.csv line 3: channel 9 is listed twice'],
  ['# nothing\n', 'channels.csv names no channel'],
  ['channel_id,label\n', 'channels.csv names no channel'],
  ['channel_id,from\n9,2026-01-01 10:00\n', 'line 2: from is "2026-01-01 10:00"; it should be a date'],
  ['channel_id,from\n9,2026-01-01\n10,2026-02-30\n', 'line 3: from is "2026-02-30"; it should be a date'],
  ['channel_id,from,until\n9,2026-02-02,2026-02-01\n', 'line 2: until is 2026-02-01; it should not be before from'],
  ['channel_id,is_test\n9,maybe\n', 'line 2: is_test is "maybe"; it should be true or false'],
  ['channel_id,label\n9,a,b\n', 'line 2: it has 3 cells; it should have 2'],
  ['channel_id,channel_id\n9,9\n', 'has the header "channel_id,channel_id"'],
  ['channel_id,label\n9,"a\n', 'is not CSV'],
  ['channel_id,label\n,a\n', 'line 2: an id is empty'],
  ['id;name\n9;a\n', 'has the header "id,name"; it should have channel_id and optionally label, group, from, '],
  ['channel_id,label\n9,a\0\n', 'it is not text in UTF-8, UTF-16 or GBK'],
  [new Uint8Array([0x39, 0xff]), 'it is not text in UTF-8, UTF-16 or GBK'],
])('a problem is reported with its position in a file: %j', (content, problem) => {
  expect(problemsOf(channelsFile(content))).toEqual([expect.stringContaining(problem)])
})
