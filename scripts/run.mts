import { strict as assert } from 'node:assert'
import { type SpawnSyncOptions, spawnSync } from 'node:child_process'

/** What a program prints on standard output. @throws when it does not end with 0, with what it printed */
export function run(command: string, args: readonly string[], options: SpawnSyncOptions): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, { ...options, encoding: 'utf8' })
  assert.equal(status, 0, `${command} ${args.join(' ')}: ${error?.message ?? ''}\n${stdout}\n${stderr}`)
  return stdout
}
