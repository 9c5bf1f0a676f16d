import { existsSync, writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { LivehouseError, wrongUse } from '../core/errors.ts'
import { passwordsOf } from '../core/secret-pattern.ts'
import { doctor } from './doctor.ts'
import { formatEnv } from './format.ts'
import { defineCommand } from './usage.ts'

const FILE = '.env'
const { stdin, stderr } = process

export const init = defineCommand(
  {
    about: `Asks for the settings that a sync needs, writes them to .env in this folder (mode 0600), and checks them as
livehouse doctor does. Empty answers are left out. Answers may be piped in, one per line; .env.example lists every
setting.`,
    flags: {},
    notes: 'Exit codes: 0 everything is as it should be, 1 a check failed (correct .env), 2 .env is there already.',
    examples: `livehouse init
livehouse init < answers.txt`,
  },
  () => undefined,
  async (context) => {
    if (existsSync(FILE)) throw wrongUse(`${FILE} is there already; correct it by hand, or move it away first`)
    using questions = openQuestions(context.signal)
    const answers = new Map<string, string>()
    const ask = async (name: string, question: string, isSecret = false): Promise<string> => {
      const answer = (await questions.ask(question, `${name}=`, isSecret)).trim()
      if (answer !== '') answers.set(name, answer)
      // The service's answer may quote what it refuses, such as a token.
      if (isSecret) for (const secret of [answer, ...passwordsOf(answer)]) context.addSecret(secret)
      return answer
    }
    await ask('LIVEHOUSE_BASE_URL', "The service's address, such as https://api.example.com")
    const token = await ask('LIVEHOUSE_API_TOKEN', 'A fixed bearer token; leave it empty if you have an app id', true)
    if (token === '') {
      await ask('LIVEHOUSE_AUTH_URL', 'The URL that issues tokens')
      await ask('LIVEHOUSE_APP_ID', 'The app id')
      await ask('LIVEHOUSE_APP_SECRET', 'Its secret', true)
    }
    await ask('LIVEHOUSE_CHANNELS', 'Channel ids, separated by commas; or @ and the path of a file of them')
    const database = 'A Postgres URL; leave it empty for the PostgreSQL that livehouse keeps in .livehouse'
    if ((await ask('DATABASE_URL', database, true)) === '') answers.set('DATABASE_URL', 'embedded')
    writeFileSync(FILE, [...formatEnv(Object.fromEntries(answers)), ''].join('\n'), { mode: 0o600, flag: 'wx' })
    context.print(`${FILE} is written; only you can read it.\n`)
    const environment = { ...context.environment, ...Object.fromEntries(answers) }
    const code = await doctor.run({ ...context, environment }, [])
    context.print(code === 0 ? '\nNext: livehouse sync' : `\nCorrect ${FILE}, then run livehouse doctor.`)
    return code
  },
)

/** Asks questions on standard error. The answer to a secret question is not echoed. */
function openQuestions(signal: AbortSignal) {
  let isHidden = false
  const output = new Writable({
    write: (chunk, _, done) => {
      if (!isHidden) stderr.write(chunk)
      done()
    },
  })
  const lines = createInterface({ input: stdin, output, terminal: stdin.isTTY })
  const answers = lines[Symbol.asyncIterator]()
  const close = (): void => lines.close()
  signal.addEventListener('abort', close)
  lines.on('SIGINT', () => process.kill(process.pid, 'SIGINT'))
  return {
    ask: async (question: string, prompt: string, isSecret: boolean): Promise<string> => {
      stderr.write(`${question}\n`)
      lines.setPrompt(prompt)
      lines.prompt()
      isHidden = isSecret
      const { done, value } = await answers.next()
      if (isHidden || !stdin.isTTY) stderr.write('\n')
      isHidden = false
      signal.throwIfAborted()
      if (done === true)
        throw new LivehouseError('usage.invalid', 'the answers ended early', { problems: [`${FILE} is not written`] })
      return value
    },
    [Symbol.dispose]: close,
  }
}
