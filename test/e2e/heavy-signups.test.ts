import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { parseWallTime } from '../../src/core/wall-clock.ts'
import { createWorld } from '../../src/emulator/world/create-world.ts'
import { createRowList } from '../../src/emulator/world/row-list.ts'
import type { Signup } from '../../src/emulator/world/world.ts'
import { firstRows } from '../helpers/first-rows.ts'
import { startPipeline } from '../helpers/start-pipeline.ts'

test('signups of heavy answers are read in parts that fit into memory, and are all there', async () => {
  const endsAt = parseWallTime('2026-11-20 14:30:00') ?? 0
  const world = createWorld({ seed: 1, channels: 1, viewers: 10, days: 30, endsAt, timeZone: 'Asia/Shanghai' })
  const { channel, form, signup } = firstRows({ world })
  const questions = Array.from({ length: 20 }, (_, index) => `${'问'.repeat(200)}${index}`)
  // Within 30 hours, less than a part by its pages.
  const signups = Array.from({ length: 120 }, (_, index) => {
    const answers = questions.map((_question, no) => `${'答'.repeat(5000)}${index}.${no}`)
    return { ...signup, userId: `u${index}`, answers, signedUpAt: endsAt - 86_400 - index * 900 }
  })
  channel.questionnaires.replace(form, { ...form, questions, signups: createRowList<Signup>(signups) })
  await using pipeline = await startPipeline({ world })
  expect(await pipeline.sync({ streams: ['questionnaires', 'signups'] })).toMatchObject({ status: 'ok' })
  const { db } = pipeline.database
  const partition = `channel=${channel.id}/question=${form.questionId}`
  const slices = db.selectFrom('livehouse_ops.slices').select('distinct_rows').where('partition', '=', partition)
  const landed = (await slices.where('status', '=', 'landed').execute()).map((slice) => Number(slice.distinct_rows))
  expect(landed.length).toBeGreaterThan(1)
  expect(Math.max(...landed)).toBeLessThan(120)
  const { rows: answers } = await sql<{ count: number; last: string }>`
    select count(distinct (signup_key, question_no))::integer as count, max(right(answer, 6)) filter (where answer like '%119.19') as last
    from livehouse.signup_answers where question_id = ${form.questionId}`.execute(db)
  expect(answers).toEqual([{ count: 2400, last: '119.19' }])
})
