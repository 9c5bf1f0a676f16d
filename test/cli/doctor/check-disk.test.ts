import { expect, test } from 'vitest'
import { checkDisk, describeServerDisk, judgeRoom } from '../../../src/cli/doctor/check-disk.ts'

const GIB = 1024 ** 3

test.each([
  [40 * GIB, 'ok', null],
  [1.9 * GIB, 'warning', 'make room'],
  [0.4 * GIB, 'failed', 'make room'],
])('%d bytes free: %s', (free, result, mend) => {
  const check = judgeRoom('/data', free, 9 * 1024 ** 2)
  expect(check).toMatchObject({ result, seen: expect.stringContaining('free in /data; the database takes 9 MiB') })
  expect(check.mend ?? '').toContain(mend ?? '')
})

test('the room of a real folder is read; of a server its size is told', async () => {
  expect((await checkDisk(import.meta.dirname, 3 * GIB)).seen).toMatch(/^\d+(\.\d)? [MG]iB free in .*takes 3\.0 GiB$/)
  expect(describeServerDisk(3 * GIB).seen).toContain('the database takes 3.0 GiB')
})
