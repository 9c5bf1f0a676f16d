import { describe, expect, test } from 'vitest'
import { readChosenChannels, readList, readInteger, readStreams } from '../../src/cli/flags.ts'
import type { Refuse } from '../../src/cli/wrong-use.ts'

const channel = { label: null, group: null, from: null, until: null, isTest: false }
const configured = ['9', '10'].map((channelId) => ({ channelId, ...channel }))

function reading<T>(read: (refuse: Refuse) => T) {
  const problems: string[] = []
  return { value: read((problem) => problems.push(problem)), problems }
}

test('what is not given is undefined', () => {
  const read = (refuse: Refuse) => [
    readList('--x', undefined, refuse),
    readStreams(undefined, refuse),
    readInteger('--n', undefined, refuse),
  ]
  expect(reading(read)).toEqual({ value: [undefined, undefined, undefined], problems: [] })
})

test('lists lose spaces and repetitions', () => {
  expect(reading((refuse) => readList('--x', ' a, b,a', refuse))).toEqual({ value: ['a', 'b'], problems: [] })
  expect(reading((refuse) => readStreams('gifts,visitors', refuse))).toEqual({
    value: ['gifts', 'visitors'],
    problems: [],
  })
})

test('channels are chosen among the configured ones, all where none is named', () => {
  expect(reading((refuse) => readChosenChannels(undefined, configured, refuse)).value).toBe(configured)
  expect(reading((refuse) => readChosenChannels('10', configured, refuse)).value).toEqual([configured[1]])
})

describe('refused is', () => {
  test.each<[string, (refuse: Refuse) => unknown, string]>([
    ['an empty entry', (refuse) => readList('--x', 'a,,b', refuse), '--x has an empty entry in "a,,b"'],
    [
      'a stream by another name',
      (refuse) => readStreams('visitor', refuse),
      'there is no stream "visitor"; did you mean visitors?',
    ],
    [
      'no stream at all',
      (refuse) => readStreams('zzz', refuse),
      'there is no stream "zzz"; the streams are visitors, ',
    ],
    ['another channel', (refuse) => readChosenChannels('8', configured, refuse), '"8" is not among LIVEHOUSE_CHANNELS'],
    ['zero', (refuse) => readInteger('--n', '0', refuse), '--n is "0"; it should be a whole number of at least 1'],
    ['a fraction', (refuse) => readInteger('--n', '1.5', refuse), 'it should be a whole number'],
    ['too much', (refuse) => readInteger('--port', '65536', refuse, 65535), 'a whole number from 1 to 65535'],
  ])('%s', (_, read, problem) => {
    expect(reading(read).problems).toEqual([expect.stringContaining(problem)])
  })
})
