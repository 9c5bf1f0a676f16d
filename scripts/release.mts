// Everything that a release needs, without publishing it: `npm run release`. Ends with 1 at the first thing that is not in order.
// Writes into the folder `release`: the package, its bill of materials (CycloneDX) and the licences of its dependencies.
import { strict as assert } from 'node:assert'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import manifest from '../package.json' with { type: 'json' }
import lock from '../package-lock.json' with { type: 'json' }

/** Those that ask for no more than to be named. */
const licences = new Set([
  'MIT',
  'ISC',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  '0BSD',
  'BlueOak-1.0.0',
  '(MIT OR CC0-1.0)',
])

const root = join(import.meta.dirname, '..')
const folder = join(root, 'release')
const { version } = manifest

assert.equal(run('git', ['status', '--porcelain']), '', 'commit first: a release is made of what is committed')
const changes = readFileSync(join(root, 'CHANGELOG.md'), 'utf8')
assert(changes.includes(`\n## ${version} `), `CHANGELOG.md has no section "## ${version} - DATE"`)
assert.equal(lock.version, version, 'package-lock.json has another version: run npm install')

rmSync(folder, { recursive: true, force: true })
mkdirSync(folder)
writeFileSync(join(folder, 'licences.txt'), listLicences())
run('npm', ['run', 'check'])
run('npm', ['run', 'check:package'])
run('npm', ['pack', '--pack-destination', folder])
writeFileSync(join(folder, 'sbom.cdx.json'), listMaterials())
process.stdout.write(`livehouse ${version} is in ${folder}; nothing is published. To publish it:

  git tag v${version} && git push --tags
  npm publish ./release/livehouse-${version}.tgz
`)

/** A line for each package that is installed with livehouse: name, version, licence. */
function listLicences(): string {
  const lines = Object.entries(lock.packages).flatMap(([path, entry]) => {
    if (path === '' || 'dev' in entry) return []
    const { version, license } = entry
    assert(
      licences.has(license),
      `${path} ${version} has the licence ${license}: may it be shipped? Then add it to the list here`,
    )
    return [`${path.replace(/^.*node_modules\//, '')} ${version} ${license}`]
  })
  return `${lines.join('\n')}\n`
}

/**
 * The same as CycloneDX, by npm from the lock file without development: `--omit=dev` would also leave out what both need, undici and
 * zod among it. npm names what the bill is of after the folder.
 */
function listMaterials(): string {
  const place = join(mkdtempSync(join(tmpdir(), 'livehouse-release-')), manifest.name)
  mkdirSync(place)
  const shipped = Object.entries(lock.packages).filter(([, entry]) => !('dev' in entry))
  const packages = { ...Object.fromEntries(shipped), '': { ...lock.packages[''], devDependencies: {} } }
  writeFileSync(join(place, 'package.json'), JSON.stringify({ ...manifest, devDependencies: {} }))
  writeFileSync(join(place, 'package-lock.json'), JSON.stringify({ ...lock, packages }))
  const bill = run('npm', ['sbom', '--package-lock-only', '--sbom-format=cyclonedx'], place)
  rmSync(dirname(place), { recursive: true })
  assert.equal(JSON.parse(bill).components.length, shipped.length - 1, 'the bill of materials lacks packages')
  return bill
}

/** What a program prints on standard output. @throws when it does not end with 0 */
function run(command: string, args: readonly string[], cwd = root): string {
  const { status, stdout } = spawnSync(command, args, {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  assert.equal(status, 0, `${command} ${args.join(' ')} ended with ${status}\n${stdout}`)
  return stdout
}
