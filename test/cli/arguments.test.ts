import { describe, expect, test } from 'vitest'
import { checkUsage, parseArguments } from '../../src/cli/arguments.ts'
import { hasCode } from '../../src/core/errors.ts'

const options = {
  from: { type: 'string' },
  streams: { type: 'string' },
  json: { type: 'boolean' },
  tag: { type: 'string', multiple: true },
} as const

function problemsOf(argv: readonly string[], maxPositionals = 0): readonly string[] {
  try {
    parseArguments('backfill', argv, options, maxPositionals)
  } catch (error) {
    if (hasCode(error, 'usage.invalid')) return error.details.problems
    throw error
  }
  return []
}

test('flags and words are read', () => {
  const { values, positionals } = parseArguments(
    'x',
    ['up', '--from=a', '--json', '--tag', '1', '--tag', '2'],
    options,
    1,
  )
  expect({ ...values }).toEqual({ from: 'a', json: true, tag: ['1', '2'] })
  expect(positionals).toEqual(['up'])
})

describe('wrong arguments are told in sentences', () => {
  test.each([
    [['--form', 'x'], 1, ['there is no --form; did you mean --from?']],
    [['--zzz'], 0, ['there is no --zzz']],
    [['--constructor'], 0, ['there is no --constructor']],
    [['-x'], 0, ['there is no -x']],
    [['--from'], 0, ['--from needs a value']],
    [['--from', '--json'], 0, ['--from needs a value']],
    [['--json=1'], 0, ['--json takes no value']],
    [['--from', 'a', '--from', 'b'], 0, ['--from is given twice']],
    [['now', 'later'], 1, ['there is no place for "later"']],
    [
      ['--zzz', '--from', '--json', 'now'],
      0,
      ['there is no --zzz', '--from needs a value', 'there is no place for "now"'],
    ],
  ])('%j', (argv, maxPositionals, problems) => {
    expect(problemsOf(argv, maxPositionals)).toEqual(problems)
  })
})

test('all refused values come at once', () => {
  const read = (refuse: (problem: string) => void): void => {
    refuse('a')
    refuse('b')
  }
  expect(() => checkUsage('sync', read)).toThrow(
    expect.objectContaining({
      code: 'usage.invalid',
      message: 'wrong use, see livehouse sync --help',
      details: { problems: ['a', 'b'] },
    }),
  )
  expect(checkUsage('sync', () => 1)).toBe(1)
})
