import { readdir, realpath } from 'node:fs/promises'
import { registerHooks } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { systemClock, within } from '../core/clock.ts'
import type { Job } from '../core/define-job.ts'
import { LivehouseError, messageOf } from '../core/errors.ts'
import { moduleEnding, programFolder } from '../core/program-files.ts'
import { checkDefinition } from './job-schema.ts'

/** Excludes hidden files: macOS keeps metadata of a file in `._NAME`. */
const JOB_FILE = /^([^.].*)\.(?:[mc]?[jt]s)$/
const JOB_NAME = /^[a-z0-9]+(-[a-z0-9]+)*$/
/** The package from which a job file imports `defineJob`, whatever folder the file is in. */
const PACKAGE = 'livehouse'
const packageUrl = pathToFileURL(join(programFolder, 'src', 'core', `define-job${moduleEnding}`)).href

interface LoadOptions {
  readonly folder: string
  /** The zone of jobs that name none: the service's. */
  readonly timeZone: string
  /** How long a file may take to load; 10 s if not given. */
  readonly timeoutMs?: number
}

const LOAD_TIMEOUT_MS = 10_000

/** The names of the jobs in a folder, sorted. @throws config.invalid if it cannot be read */
export async function listJobs({ folder }: Pick<LoadOptions, 'folder'>): Promise<readonly string[]> {
  try {
    return [...(await readJobFiles(folder)).keys()].toSorted()
  } catch (cause) {
    const problem = `${folder} cannot be read (${messageOf(cause)}); LIVEHOUSE_JOBS_DIR should be a folder of job files`
    throw new LivehouseError('config.invalid', 'there are no jobs', { problems: [problem] }, { cause })
  }
}

/** The job files by the names of their jobs. @throws what `readdir` throws */
async function readJobFiles(folder: string): Promise<ReadonlyMap<string, readonly string[]>> {
  const files = (await readdir(folder)).filter((file) => JOB_FILE.test(file) && !/\.d\.\w+$/.test(file))
  return Map.groupBy(files.toSorted(), (file) => file.replace(JOB_FILE, '$1'))
}

/**
 * Loads all job files of a folder, or those with the given names. They need no build step.
 * @throws config.invalid with every problem of every file
 */
export async function loadJobs(options: LoadOptions, names?: readonly string[]): Promise<readonly Job[]> {
  const { jobs, problems } = await tryJobs(options, names)
  if (problems.length === 0) return jobs
  const title = problems.length === 1 ? 'a job file is wrong' : `job files are wrong in ${problems.length} places`
  throw new LivehouseError('config.invalid', title, { problems })
}

/** Like `loadJobs`, but returns the problems. @throws config.invalid if the folder cannot be read */
export async function tryJobs(
  options: LoadOptions,
  names?: readonly string[],
): Promise<{ readonly jobs: readonly Job[]; readonly problems: readonly string[] }> {
  const folderUrl = pathToFileURL(`${await realpath(options.folder).catch(() => options.folder)}/`).href
  const hooks = registerHooks({
    resolve: (specifier, context, nextResolve) =>
      specifier === PACKAGE ? { url: packageUrl, shortCircuit: true } : nextResolve(specifier, context),
    // Without a package.json beside the files, Node would parse each twice to detect a module, and warn.
    load: (url, context, nextLoad) => {
      // JavaScript too: a syntax error then names its line. But Node strips no types in node_modules.
      const format = url.includes('/node_modules/') && !url.endsWith('.ts') ? 'module' : 'module-typescript'
      return nextLoad(url, url.startsWith(folderUrl) ? { ...context, format } : context)
    },
  })
  try {
    const jobNames = names ?? (await listJobs(options))
    const none = `${options.folder} holds no job file; it should hold NAME.ts or NAME.js, one a job`
    if (jobNames.length === 0) return { jobs: [], problems: [none] }
    const files = await readJobFiles(options.folder)
    const loaded = await Promise.all(jobNames.map((name) => loadJob(name, files.get(name) ?? [`${name}.ts`], options)))
    return { jobs: loaded.flatMap(({ job }) => job ?? []), problems: loaded.flatMap(({ problems }) => problems ?? []) }
  } finally {
    hooks.deregister()
  }
}

interface LoadedJob {
  readonly job?: Job
  readonly problems?: readonly string[]
}

async function loadJob(
  name: string,
  [first = '', ...others]: readonly string[],
  { folder, timeZone, timeoutMs = LOAD_TIMEOUT_MS }: LoadOptions,
): Promise<LoadedJob> {
  const file = join(folder, first)
  const refuse = (problems: readonly string[]): LoadedJob => ({ problems: problems.map((each) => `${file}: ${each}`) })
  if (!JOB_NAME.test(name))
    return refuse(['its name is that of the job: it should consist of a-z, 0-9 and single hyphens'])
  if (others.length > 0) return refuse([`${others.join(' and ')} is a job of the same name; keep one of them`])
  let exported: unknown
  try {
    // The timer also keeps Node from exiting without a message if an `await` in the file never settles.
    exported = await within(systemClock, timeoutMs, import(pathToFileURL(file).href), undefined)
    if (exported === undefined) throw new Error('it took too long; a job file should await nothing that may never come')
  } catch (error) {
    const { message = String(error), stack = '' } = error instanceof Error ? error : {}
    const [, position = ''] = stack.split(`${pathToFileURL(file).href}:`)
    const place = /^\d+/.test(position) ? ` at line ${Number.parseInt(position, 10)}` : ''
    return refuse([`it does not load${place}: ${message.split('\n')[0]}`])
  }
  if (!Object.hasOwn(Object(exported), 'default'))
    return refuse(['it has no default export; it should say export default defineJob({ cron: …, … })'])
  const { definition, problems } = checkDefinition(Object(exported).default)
  if (problems !== undefined) return refuse(problems)
  const { kind = 'sync', cron, enabled = true, catchUp = 'once' } = definition
  const job = { name, kind, cron, timeZone: definition.timezone ?? timeZone, isEnabled: enabled, catchUp, definition }
  return { job: Object.freeze(job) }
}
