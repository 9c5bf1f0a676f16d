// `npm pack` and `npm publish` run this first. It writes the program without types into dist, because Node strips none
// below node_modules (docs/adr/0050). Afterwards they run it with `--clean`, which removes dist.
import { spawnSync } from 'node:child_process'
import { cp, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { build } from 'rolldown'
import manifest from '../package.json' with { type: 'json' }

const root = join(import.meta.dirname, '..')
const dist = join(root, 'dist')

await rm(dist, { recursive: true, force: true })
if (!process.argv.includes('--clean')) {
  await compile(['src/main.ts', 'src/core/define-job.ts'], true)
  // They share no code, and need no source maps because nobody debugs them step by step.
  const migrations = await readdir(join(root, 'migrations'))
  await compile(['jobs/nightly.ts', ...migrations.map((file) => `migrations/${file}`)], false)
  declareTypes()
  await cp(join(root, 'src', 'web', 'assets'), join(dist, 'src', 'web', 'assets'), { recursive: true })
}

/** Compiles entries to the paths of their sources below dist, and shared code to `dist/shared`. Packages stay out. */
async function compile(sources: readonly string[], sourcemap: boolean): Promise<void> {
  await build({
    cwd: root,
    input: Object.fromEntries(sources.map((source) => [source.replace(/\.ts$/, ''), source])),
    platform: 'node',
    external: [
      /^node:/,
      /^livehouse$/,
      ...Object.keys(manifest.dependencies).map((name) => new RegExp(`^${name}(/|$)`)),
    ],
    // Node 24 runs this syntax unchanged.
    transform: { target: 'esnext' },
    tsconfig: false,
    output: {
      dir: dist,
      format: 'esm',
      sourcemap,
      entryFileNames: '[name].mjs',
      chunkFileNames: 'shared/[name]-[hash].mjs',
      // Merges small files that nearly every verb loads.
      codeSplitting: { groups: [{ name: 'core', test: /[\\/]src[\\/]core[\\/]/ }] },
    },
    logLevel: 'warn',
  })
}

/** Writes the types that job files import. */
function declareTypes(): void {
  const options = ['--declaration', '--emitDeclarationOnly', '--strict', '--module', 'nodenext', '--target', 'es2024']
  const source = join('src', 'core', 'define-job.ts')
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  const args = [compiler, ...options, '--ignoreConfig', '--outDir', join(dist, 'src', 'core'), source]
  const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: ['ignore', 2, 2] })
  if (status !== 0) throw new Error(`could not write the types of ${source}: tsc exited with ${status}`)
}
