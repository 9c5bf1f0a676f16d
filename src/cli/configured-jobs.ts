import { readJobsDir, readServiceTimeZone, readSettings } from '../config.ts'
import type { Job } from '../scheduler/job.ts'
import { listJobs, loadJobs } from '../scheduler/load-jobs.ts'
import type { CliContext } from './command.ts'
import { didYouMean, wrongUse } from './wrong-use.ts'

/** Every job of `LIVEHOUSE_JOBS_DIR`. @throws config.invalid with all that is wrong with the files */
export async function loadConfiguredJobs({ environment }: Pick<CliContext, 'environment'>): Promise<readonly Job[]> {
  return await loadJobs(readSettings(environment, readLoadOptions))
}

/** One job; the others need not be right. @throws usage.invalid where there is none of this name, config.invalid */
export async function loadConfiguredJob(
  { environment }: Pick<CliContext, 'environment'>,
  verb: string,
  name: string,
): Promise<Job> {
  const options = readSettings(environment, readLoadOptions)
  const names = await listJobs(options)
  if (!names.includes(name)) {
    const problem = `there is no job ${JSON.stringify(name)} in ${options.folder}${didYouMean(name, names)}; there are ${names.join(', ') || 'none'}`
    throw wrongUse(verb, problem)
  }
  const [job] = await loadJobs(options, [name])
  if (job === undefined) throw new Error(`the job ${name} is gone`)
  return job
}

const readLoadOptions = (source: Parameters<typeof readJobsDir>[0]) => ({
  folder: readJobsDir(source),
  timeZone: readServiceTimeZone(source),
})
