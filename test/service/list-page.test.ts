import { describe, expect, test } from 'vitest'
import { readListPage } from '../../src/service/list-page.ts'
import { hasCode } from '../../src/core/errors.ts'
import type { ListRequest, Page } from '../../src/core/page.ts'
import { listOf } from '../helpers/emulated-client.ts'

const visitorList = listOf('visitors', { channel: '9' })
const gifts = listOf('gifts', { channel: '9', type: 'cash' })
const recordsV1 = listOf('watch_records_v1', { channel: '9' })
const questions = listOf('questionnaires', { channel: '9' })
const signups = listOf('signups', { channel: '9', question: 'ab' })
const managers = listOf('managers')

function read(list: ListRequest, json: unknown, page = 1, pageSize = 20): Page {
  return readListPage({ list, page, pageSize }, 'CALL', { json, serviceTimeMs: 7 })
}

function codeOf(list: ListRequest, json: unknown, page = 1): boolean {
  try {
    read(list, json, page)
  } catch (error) {
    return hasCode(error, 'api.badShape')
  }
  return false
}

describe('what is not a list is never "no rows"', () => {
  test.each<[string, ListRequest, unknown]>([
    ['an object for a bare array', gifts, {}],
    ['null for a bare array', gifts, null],
    ['a text for a bare array', recordsV1, 'none'],
    ['null although there is a total', visitorList, { total_num: 3, results: null }],
    ['a missing list although there is a total', visitorList, { total_num: 3 }],
    ['an object for the list', managers, { page: { count: 0 }, data: {} }],
    ['no total', visitorList, { results: [] }],
    ['a negative total', visitorList, { total_num: -1, results: [] }],
    ['a total that is no integer', visitorList, { total_num: '3.5', results: [] }],
    ['an empty total', visitorList, { total_num: '', results: [] }],
    ['signups without title', signups, { total: 1, data: [['1']] }],
    ['signups whose title is an object', signups, { total: 1, data: [['1']], title: {} }],
    ['errcode 1000 alone', questions, { errcode: 1000, msg: 'Invalid parameters' }],
  ])('%s', (_name, list, json) => {
    expect(codeOf(list, json)).toBe(true)
  })
})

describe('no list is an empty page where the envelope says that there is nothing', () => {
  test.each<[string, ListRequest, unknown, number]>([
    ['null and total 0', questions, { errcode: 1000, total: 0, question_list: null }, 1],
    ['null and total 0 as text', visitorList, { total_num: '0', results: null }, 1],
    ['signups without data and title', signups, { errcode: 1000, msg: 'OK', total: 0 }, 1],
    ['signups with null for both', signups, { errcode: 1000, total: 0, data: null, title: null }, 1],
    ['null past the last page', visitorList, { total_num: 20, page_size: 20, results: null }, 2],
  ])('%s', (_name, list, json, page) => {
    expect(read(list, json, page).items).toEqual([])
  })

  test('null on the last page that must hold rows is none of these', () => {
    expect(codeOf(visitorList, { total_num: 21, page_size: 20, results: null }, 2)).toBe(true)
  })
})

test('the message describes the shape without showing values', () => {
  expect(() => read(gifts, { 'a private name': 'abcdef', msg: 'private' })).toThrow(
    /answer is an object of 2 fields \(msg\) where an array belongs$/,
  )
})
