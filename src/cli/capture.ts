import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { captureAnswers } from '../app/capture/capture-answers.ts'
import { readChannelsIfAny } from '../config/read-channels.ts'
import { reasonOf } from '../config/setting-source.ts'
import { readServiceAndAnyDatabase, readSettings } from '../config.ts'
import { wrongUse } from '../core/errors.ts'
import { onlyWhenNamed, streams } from '../streams/registry.ts'
import { exitCodes } from './exit-codes.ts'
import { namesOf, readStreams } from './flags.ts'
import { defineCommand } from './usage.ts'

export const capture = defineCommand(
  {
    about: `Saves real answers of the service to files, for bug reports and tests. Makes one or two small calls per
stream. Everything but the envelope is replaced by made-up values of the same shape. Look through the files before you
share them.`,
    flags: {
      out: ['DIR', 'a folder that is not there yet, or empty'],
      streams: ['a,b', `only these (default: all); ${namesOf(streams)}`],
    },
    notes: 'Exit codes: 0 captured, 1 nothing could be captured, 2 wrong use, 3 some endpoint gave no answer.',
    examples: `livehouse capture --out captured
LIVEHOUSE_CHANNELS=10001589 livehouse capture --out captured --streams gifts`,
  },
  ({ values }, refuse) => {
    const { out = '' } = values
    if (out === '') refuse('--out needs a value: a folder for the files')
    const chosenStreams = readStreams(values.streams, refuse) ?? streams
    if (chosenStreams.some(({ isBudgeted }) => isBudgeted))
      refuse(`--streams: ${onlyWhenNamed} allows ten calls a day, and none is spent on this`)
    return { out: resolve(out), chosenStreams }
  },
  async (context, { out, chosenStreams }) => {
    const { service, database, configured } = readSettings(context.environment, (source) => ({
      ...readServiceAndAnyDatabase(source),
      configured: readChannelsIfAny(source),
    }))
    const channel = configured[0]?.channelId
    if (channel === undefined && chosenStreams.every(({ partitionedBy }) => partitionedBy !== 'account'))
      throw wrongUse('LIVEHOUSE_CHANNELS is not set, and these streams belong to channels')
    await openFolder(out)
    const { answers, failures } = await captureAnswers(context, { service, database, streams: chosenStreams, channel })
    for (const { file, text, status } of answers) {
      // Never overwrite a file: somebody may already have reviewed it.
      await writeFile(join(out, file), context.redact(text), { flag: 'wx', mode: 0o600 })
      context.print(`${join(out, file)}  HTTP ${status}`)
    }
    for (const message of failures) context.print(`✗ ${message}`)
    return exitCodes[failures.length > 0 ? 'partial' : 'ok']
  },
)

async function openFolder(out: string): Promise<void> {
  try {
    await mkdir(out, { recursive: true, mode: 0o700 })
    if ((await readdir(out)).length === 0) return
  } catch (error) {
    throw wrongUse(`--out ${out}: the folder cannot be made or read (${reasonOf(error)})`)
  }
  throw wrongUse(`--out ${out}: the folder is not empty, and nothing is overwritten; name another one`)
}
