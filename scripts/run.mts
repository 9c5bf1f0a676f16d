import { strict as assert } from 'node:assert'
import { type SpawnSyncOptions, spawnSync } from 'node:child_process'

/** Runs a program and returns its standard output. @throws with its output if it does not exit with 0 */
export function run(command: string, args: readonly string[], options: SpawnSyncOptions): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, { ...options, encoding: 'utf8' })
  assert.equal(status, 0, `${command} ${args.join(' ')}: ${error?.message ?? ''}\n${stdout}\n${stderr}`)
  return stdout
}
