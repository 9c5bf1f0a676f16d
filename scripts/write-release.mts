import { strict as assert } from 'node:assert'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import manifest from '../package.json' with { type: 'json' }
import lock from '../package-lock.json' with { type: 'json' }
import { run } from './run.mts'

/** Licences of dependencies that may be shipped if the licence is named. */
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
const { version } = manifest

/** The output of `npm pack --json` for a package. */
interface Packed {
  readonly filename: string
  readonly size: number
  readonly files: readonly { readonly path: string }[]
}

/**
 * Writes the parts of a release into a folder: the package, its bill of materials (CycloneDX), and the licences of its
 * dependencies. Needs a checkout with its development dependencies.
 *
 * @throws if a licence is not in the list above, or the version differs from the changelog's or the lock file's
 */
export function writeRelease(folder: string): Packed {
  const changes = readFileSync(join(root, 'CHANGELOG.md'), 'utf8')
  assert(changes.includes(`\n## ${version} `), `CHANGELOG.md has no section "## ${version} - DATE"`)
  assert.equal(lock.version, version, 'package-lock.json has another version: run npm install')
  writeFileSync(join(folder, 'licences.txt'), listLicences())
  writeFileSync(join(folder, 'sbom.cdx.json'), listMaterials())
  const [packed] = JSON.parse(run('npm', ['pack', '--json', '--silent', '--pack-destination', folder], { cwd: root }))
  return packed
}

/** Lists each package that is installed with livehouse: name, version, licence. */
function listLicences(): string {
  const lines = Object.entries(lock.packages).flatMap(([path, entry]) => {
    if (path === '' || 'dev' in entry) return []
    const { version, license } = entry
    assert(
      licences.has(license),
      `${path} ${version} has the licence ${license}: if it may be shipped, add it to the list in this file`,
    )
    return [`${path.replace(/^.*node_modules\//, '')} ${version} ${license}`]
  })
  return `${lines.join('\n')}\n`
}

/**
 * Lists the same as CycloneDX. npm makes it from the lock file without development packages: `--omit=dev` would also
 * omit packages that both need, such as undici and zod. npm names the subject of the bill after the folder.
 */
function listMaterials(): string {
  const place = join(mkdtempSync(join(tmpdir(), 'livehouse-release-')), manifest.name)
  mkdirSync(place)
  const shipped = Object.entries(lock.packages).filter(([, entry]) => !('dev' in entry))
  const packages = { ...Object.fromEntries(shipped), '': { ...lock.packages[''], devDependencies: {} } }
  writeFileSync(join(place, 'package.json'), JSON.stringify({ ...manifest, devDependencies: {} }))
  writeFileSync(join(place, 'package-lock.json'), JSON.stringify({ ...lock, packages }))
  const bill = run('npm', ['sbom', '--package-lock-only', '--sbom-format=cyclonedx'], { cwd: place })
  rmSync(dirname(place), { recursive: true })
  assert.equal(JSON.parse(bill).components.length, shipped.length - 1, 'the bill of materials lacks packages')
  return bill
}
