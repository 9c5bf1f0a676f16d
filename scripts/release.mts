// `npm run release` makes everything that a release needs and publishes nothing. Exits with 1 at the first failure.
// write-release.mts says what it puts into the folder `release`.
import { strict as assert } from 'node:assert'
import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import manifest from '../package.json' with { type: 'json' }
import { run } from './run.mts'
import { writeRelease } from './write-release.mts'

const root = join(import.meta.dirname, '..')
const folder = join(root, 'release')
const { version } = manifest

rmSync(folder, { recursive: true, force: true })
assert.equal(
  run('git', ['status', '--porcelain'], { cwd: root }),
  '',
  'commit first: a release contains only what is committed',
)
for (const script of ['check', 'check:package']) {
  const { status } = spawnSync('npm', ['run', script], { cwd: root, stdio: 'inherit' })
  assert.equal(status, 0, `npm run ${script} exited with ${status}`)
}
mkdirSync(folder)
const { filename } = writeRelease(folder)
process.stdout.write(`livehouse ${version} is in ${folder}; nothing is published. To publish it:

  git tag v${version} && git push --tags
  npm publish ./release/${filename}
`)
