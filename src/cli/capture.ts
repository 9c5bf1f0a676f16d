import { randomBytes } from 'node:crypto'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { readDatabaseSettings, readServiceSettings, readSettings } from '../config.ts'
import { readChannelsIfAny } from '../config/read-channels.ts'
import { reasonOf } from '../config/setting-source.ts'
import type { Stream } from '../core/stream.ts'
import { streams } from '../streams/registry.ts'
import { captureAnswers, capturedAnswer } from './capture/capture-answers.ts'
import { createDisguise } from './capture/disguise.ts'
import { exitCodeOfStatus } from './failure.ts'
import { namesOf, readChosenChannels, readStreams } from './flags.ts'
import { defineCommand } from './usage.ts'
import { checkUsage, type Refuse, wrongUse } from './wrong-use.ts'

const captured = streams.filter(({ name }) => name !== 'watch_records_v1')

/** `livehouse capture`: answers without anybody's data. */
export const capture = defineCommand(
  {
    verb: 'capture',
    about: `Writes real answers of the service as files that can be shown to others: one a kind of list, with the request (without its token),
status, headers and the body. Structure, types, lengths, empty values and odd formats stay as they came. Names, phone numbers, ids,
addresses, IP addresses, open ids, answers and every field that the documents do not name are replaced by made-up values of the same
shape, the same one for the same value in all files of one capture; which one stands for which is kept nowhere. Counts, times,
durations, amounts, kinds of devices, the names of fields and the service's own messages stay: look through the files before
you show them.

For bug reports, and as fixtures for tests. About nine small calls a channel, none on version 1 of the watch records.`,
    flags: {
      out: ['DIR', 'a folder that is not there yet, or empty'],
      streams: ['a,b', `only these (default: all); ${namesOf(captured)}`],
      channels: ['x,y', 'these channels of LIVEHOUSE_CHANNELS (default: the first)'],
    },
    notes: `Exit codes: 0 captured, also where the service answered with an error, 1 nothing could be captured, 2 a flag or a setting is
wrong, 3 some endpoint gave no answer.`,
    examples: `livehouse capture --out captured
livehouse capture --out captured --streams gifts --channels 10001589`,
  },
  ({ values }, refuse) => {
    if (values.out === undefined) refuse('--out is not given; it should be a folder for the files')
    return { values, out: resolve(values.out ?? '.'), chosen: chooseStreams(values.streams, refuse) }
  },
  async (context, { values, out, chosen }) => {
    const { service, database, configured } = readSettings(context.environment, (source) => ({
      service: readServiceSettings(source),
      database: source.isSet('DATABASE_URL') ? readDatabaseSettings(source) : undefined,
      configured: readChannelsIfAny(source),
    }))
    const channels = checkUsage('capture', (refuse) => {
      const named = readChosenChannels(values.channels, configured, refuse)
      if (named.length === 0 && chosen.every(({ partitionedBy }) => partitionedBy !== 'account')) {
        refuse('LIVEHOUSE_CHANNELS is not set, and these streams belong to channels')
      }
      return (values.channels === undefined ? named.slice(0, 1) : named).map(({ channelId }) => channelId)
    })
    await openFolder(out)
    const { answers, failures } = await captureAnswers(context, { service, database, streams: chosen, channels })
    const disguise = createDisguise(randomBytes(32))
    for (const { file, exchange } of answers) {
      const text = capturedAnswer(exchange, disguise, new Date(context.clock.now()))
      // Never over a file that is there: somebody may have looked through it.
      await writeFile(join(out, file), text, { flag: 'wx', mode: 0o600 })
      context.print(`${join(out, file)}  HTTP ${exchange.answer.status}`)
    }
    for (const message of failures) context.print(`✗ ${message}`)
    if (answers.length > 0) {
      context.remark('Look through the files before you send them. A name or number that you know is found with')
      context.remark(`  grep -rn 'TEXT' ${out}`)
    }
    return exitCodeOfStatus(failures.length > 0 ? 'partial' : 'ok')
  },
)

function chooseStreams(given: string | undefined, refuse: Refuse): readonly Stream[] {
  const names = readStreams(given, refuse)
  if (names?.includes('watch_records_v1'))
    refuse('--streams: watch_records_v1 allows ten calls a day, none is spent on this')
  return names === undefined ? captured : captured.filter(({ name }) => names.includes(name))
}

async function openFolder(out: string): Promise<void> {
  try {
    await mkdir(out, { recursive: true, mode: 0o700 })
    if ((await readdir(out)).length === 0) return
  } catch (error) {
    throw wrongUse('capture', `--out ${out}: the folder cannot be made or read (${reasonOf(error)})`)
  }
  throw wrongUse('capture', `--out ${out}: the folder is not empty, and nothing is overwritten; name another one`)
}
