import { expect, test } from 'vitest'
import { isLoopback } from '../../src/core/loopback.ts'

test.each([
  ['127.0.0.1', true],
  ['127.255.0.9', true],
  ['::1', true],
  ['[::1]', true],
  ['localhost', true],
  ['LOCALHOST', true],
  ['0.0.0.0', false],
  ['::', false],
  ['127.0.0.256', false],
  ['127.0.0.1.evil.example', false],
  ['127.1', false],
  ['192.168.0.1', false],
  ['', false],
])('%s is loopback: %s', (host, is) => expect(isLoopback(host)).toBe(is))
