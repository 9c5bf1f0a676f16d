import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { capture } from '../../src/cli/capture.ts'
import type { Emulator } from '../../src/emulator/server.ts'
import { parseExact } from '../../src/service/read-answer.ts'
import { streams } from '../../src/streams/registry.ts'
import { startEmulatedService } from '../helpers/emulated-service.ts'
import { createFakeClock } from '../helpers/fake-clock.ts'
import { html, refusal } from '../helpers/fault-effects.ts'
import { environmentOf, runVerb } from '../helpers/run-verb.ts'
import { createTemporaryFolder } from '../helpers/temporary-folder.ts'

const capturedSchema = z.object({
  request: z.object({ path: z.string(), body: z.object({ question_id: z.string().optional() }).optional() }),
  answer: z.looseObject({ status: z.number(), body: z.unknown().optional() }),
})

/** One file for each list that is requested. */
const files = streams
  .flatMap(({ section, name, types = [''] }) => types.map((type) => [section, name, type].filter(Boolean).join('-')))
  .map((name) => `${name}.json`)
  .toSorted()

async function runCapture(emulator: Emulator, ...flags: readonly string[]) {
  const out = join(createTemporaryFolder('capture'), 'out')
  const options = { environment: environmentOf(emulator, { url: '' }), clock: createFakeClock({ isAutomatic: true }) }
  const redact = (text: string) => text.replaceAll('open-sesame', '…')
  const run = async () => await runVerb(capture, ['--out', out, ...flags], { ...options, redact })
  const { code, printed } = await run()
  const texts = readdirSync(out)
    .sort()
    .map((file) => [file, readFileSync(join(out, file), 'utf8')] as const)
  return { code, out, printed, texts, run }
}

/** Everything in the world that belongs to a person or to the company. */
function personalValues({ world, apiToken }: Emulator): readonly string[] {
  const ofChannels = [...world.channels.values()].flatMap((channel) => [
    channel.id,
    channel.name,
    ...channel.visitors.rows.flatMap((row) => [row.userId, row.nick, row.addr, row.phone, row.lastIp, row.wxOpenid]),
    ...channel.visitors.rows.flatMap((row) => [row.assignId, row.outerId]),
    ...channel.records.rows.flatMap((row) => [row.recordId, row.nick, row.addr, row.phone]),
    ...channel.gifts.rows.flatMap((row) => [row.visitorId, row.visitorName, row.phone]),
    ...channel.questionnaires.rows.flatMap((form) => [form.questionId, form.name, ...form.questions]),
    ...channel.questionnaires.rows.flatMap(({ signups }) =>
      signups.rows.flatMap((row) => [row.userId, row.nick, row.phone, ...row.answers]),
    ),
  ])
  const ofManagers = world.managers.rows.flatMap((row) => [row.id, row.username, row.belongTo, row.outerId])
  const values = [apiToken, ...ofChannels, ...ofManagers].filter((value) => typeof value === 'string')
  // One of the questions has the name of a fixed column.
  return [...new Set(values)].filter((value) => value.length > 2 && value !== '手机号')
}

test('no file contains a value of a person or of the company', async () => {
  await using service = await startEmulatedService({ viewers: 200 })
  const { code, texts } = await runCapture(service.emulator)
  expect(code).toBe(0)
  expect(texts.map(([file]) => file)).toEqual(files)
  const values = personalValues(service.emulator)
  expect(values.length).toBeGreaterThan(500)
  // A short value as a whole JSON value, a longer one anywhere.
  const isIn = (text: string, value: string): boolean =>
    value.length > 5 ? text.includes(JSON.stringify(value).slice(1, -1)) : text.includes(JSON.stringify(value))
  // A disguise is drawn anew for each capture and may equal another value by chance, but not twice.
  const others = new Map((await runCapture(service.emulator)).texts)
  for (const [file, text] of texts) {
    const leaks = values.filter((value) => isIn(text, value) && isIn(others.get(file) ?? '', value))
    expect([file, leaks]).toEqual([file, []])
  }
})

test('capture refuses a folder that is not empty, and version 1', async () => {
  await using service = await startEmulatedService()
  const { run, texts, out } = await runCapture(service.emulator, '--streams', 'managers')
  expect(texts.map(([file]) => file)).toEqual(['4.9-managers.json'])
  expect((await run()).problems).toEqual([expect.stringContaining('is not empty, and nothing is overwritten')])
  expect(readFileSync(join(out, '4.9-managers.json'), 'utf8')).toBe(texts[0]?.[1])
  const { problems } = await runVerb(capture, ['--out', out, '--streams', 'watch_records_v1'], {})
  expect(problems).toEqual(['--streams: watch_records_v1 allows ten calls a day, and none is spent on this'])
})

test('an error is captured, a body that is not JSON only described; an unreachable service is an error', async () => {
  await using service = await startEmulatedService()
  const { emulator } = service
  emulator.faults.push({ effect: refusal(403002, 'not open-sesame'), endpoint: 'visitorList' })
  emulator.faults.push({ effect: html(200), endpoint: 'managers' })
  const { code, texts, printed } = await runCapture(emulator, '--streams', 'visitors,managers')
  expect(code).toBe(0)
  const [visitors, managers] = texts.map(([, text]) => capturedSchema.parse(parseExact(text)))
  expect(visitors).toMatchObject({ answer: { status: 403, body: { errors: { code: 403002, message: 'not …' } } } })
  expect(managers).toMatchObject({ answer: { body_withheld: expect.stringContaining('not JSON') } })
  expect(managers?.answer).not.toHaveProperty('body')
  expect(printed).toHaveLength(2)
  const environment = { LIVEHOUSE_BASE_URL: 'http://127.0.0.1:1', LIVEHOUSE_API_TOKEN: 'a' }
  const unreachable = { environment, clock: createFakeClock({ isAutomatic: true }) }
  const argv = ['--out', createTemporaryFolder('capture'), '--streams', 'managers']
  expect(await runVerb(capture, argv, unreachable)).toMatchObject({ error: { code: 'api.unreachable' } })
})
