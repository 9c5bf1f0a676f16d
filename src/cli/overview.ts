import type { CommandEntry } from './commands.ts'

/** The text of `livehouse --help`. */
export function overview(commands: Readonly<Record<string, CommandEntry>>): string {
  const width = Math.max(0, ...Object.keys(commands).map((verb) => verb.length))
  const lines = Object.entries(commands).map(([verb, { summary }]) => `  ${verb.padEnd(width)}  ${summary}`)
  return [
    'livehouse <command> [flags]',
    '',
    "Pulls a live-streaming account's records into Postgres.",
    '',
    'Commands:',
    ...lines,
    '',
    'livehouse <command> --help shows its flags and examples.',
    'Settings come from the environment and from .env; .env.example lists them all.',
    'Exit codes: 0 ok, 1 failed, 2 wrong use, 3 partial, 4 waiting, 130 or 143 interrupted.',
  ].join('\n')
}
