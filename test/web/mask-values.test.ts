import { expect, test } from 'vitest'
import { maskValues } from '../../src/web/mask-values.ts'

test.each([
  ['user_id is "张三", and a row needs it', 'user_id is …, and a row needs it'],
  ['record_id is "a\\"b", not a number', 'record_id is …, not a number'],
  // Cut in the middle of a value.
  ['the item is {"nick":"张三","phone":"1381…, not an object', 'the item is {…:…,…:…'],
  ['id is 13812345678', 'id is …'],
  ['POST visitorList channel 10001589 page 3: 502', 'POST visitorList channel 10001589 page 3: 502'],
  ['channel=10001589/type=cash: 90 of 100 rows came', 'channel=10001589/type=cash: 90 of 100 rows came'],
])('%s', (message, masked) => {
  expect(maskValues(message)).toBe(masked)
})
