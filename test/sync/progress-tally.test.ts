import { expect, test } from 'vitest'
import { createProgressTally, isOver } from '../../src/sync/progress-tally.ts'

const stream = 'visitors'
const slice = { stream, slice: 'channel=9' } as const

test('rows and pages add up over slices, and slices that have not begun are taken to be like the others', () => {
  const tally = createProgressTally()
  expect(tally.of(stream)).toBeUndefined()
  tally.add({ kind: 'stream.planned', stream, slices: 4 })
  tally.add({ kind: 'slice.started', ...slice })
  expect(tally.of(stream)).toEqual({ rows: 0, pages: 0, totalPages: undefined, slices: 4, endedSlices: 0 })
  tally.add({ kind: 'page', ...slice, rows: 100, totalPages: 10 })
  tally.add({ kind: 'page', ...slice, slice: 'channel=10', rows: 50, totalPages: 20 })
  expect(tally.of(stream)).toEqual({ rows: 150, pages: 2, totalPages: 60, slices: 4, endedSlices: 0 })
})

test('an ended slice counts the pages that it had, and the next one of its partition starts anew', () => {
  const tally = createProgressTally()
  for (const rows of [100, 30]) {
    tally.add({ kind: 'slice.started', ...slice })
    tally.add({ kind: 'page', ...slice, rows, totalPages: 5 })
    tally.add({ kind: 'slice.ended', ...slice, proof: 'verified' })
  }
  const state = tally.of(stream)
  expect(state).toEqual({ rows: 130, pages: 2, totalPages: 2, slices: 2, endedSlices: 2 })
  expect(state && isOver(state)).toBe(true)
})

test('a slice that is cut gives way to its parts', () => {
  const tally = createProgressTally()
  tally.add({ kind: 'stream.planned', stream, slices: 2 })
  tally.add({ kind: 'slice.started', ...slice })
  tally.add({ kind: 'page', ...slice, rows: 100, totalPages: 90 })
  tally.add({ kind: 'slice.cut', ...slice, parts: 3 })
  expect(tally.of(stream)).toEqual({ rows: 100, pages: 0, totalPages: undefined, slices: 4, endedSlices: 0 })
  for (const part of ['one', 'two', 'three']) {
    tally.add({ kind: 'slice.started', stream, slice: part })
    tally.add({ kind: 'page', stream, slice: part, rows: 10, totalPages: 2 })
    tally.add({ kind: 'slice.ended', stream, slice: part, proof: 'verified' })
  }
  expect(tally.of(stream)).toEqual({ rows: 130, pages: 3, totalPages: 4, slices: 4, endedSlices: 3 })
})

test('a plan without slices is not over before it began', () => {
  const state = createProgressTally().add({ kind: 'stream.planned', stream, slices: 0 })
  expect(isOver(state)).toBe(false)
})
