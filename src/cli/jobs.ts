import { openAsItIs } from '../app/open-database.ts'
import { problemsOf } from '../app/outcome.ts'
import { chooseJobChannels, chooseJobStreams } from '../app/run-job.ts'
import type { ChannelSetting, ExtractionSettings } from '../app/settings.ts'
import { readChannelsIfAny } from '../config/read-channels.ts'
import type { SettingSource } from '../config/setting-source.ts'
import { readDatabaseSettings, readJobsDir, readServiceTimeZone, readSettings } from '../config.ts'
import type { Job } from '../core/define-job.ts'
import { didYouMean } from '../core/did-you-mean.ts'
import { wrongUse } from '../core/errors.ts'
import { listJobs, loadJobs, tryJobs } from '../scheduler/load-jobs.ts'
import { type JobState, readJobStates } from '../scheduler/read-job-states.ts'
import type { CliContext } from './command.ts'
import { WRONG_USE } from './exit-codes.ts'
import { readExtractionSettings } from './extraction-settings.ts'
import { LIST_JSON_HELP } from './flags.ts'
import { formatAge, formatMinuteIn, formatTable, printResult } from './format.ts'
import { defineCommand } from './usage.ts'

export const jobs = defineCommand(
  {
    about: `Lists the jobs of jobs/, or of LIVEHOUSE_JOBS_DIR: when each is due, when it last ran and how it ended.
livehouse serve runs those that are enabled; livehouse run JOB runs any of them now. Reads only files and the database.
Exit code 2 if a job would be refused; the output says why.`,
    flags: { json: LIST_JSON_HELP },
    examples: `livehouse jobs
livehouse jobs --json | jq '.jobs[] | select(.last_outcome != "ok") | .job'`,
  },
  ({ values }) => values,
  async (context, { json: isJson }) => {
    const { options, channels, settings } = readSettings(context.environment, (source) => ({
      options: readLoadOptions(source),
      channels: readChannelsIfAny(source),
      settings: readDatabaseSettings(source),
    }))
    const { jobs: loaded, problems } = await tryJobs(options)
    // The error of a job file may contain a secret setting.
    const allProblems = [...problems, ...loaded.flatMap((job) => findRefusal(job, channels))].map(context.redact)
    await using database = await openAsItIs(context, settings)
    const now = context.clock.now()
    // The database of an older livehouse may lack the table of jobs.
    const db = database.pending.length === 0 ? database.db : undefined
    const states = await readJobStates(db, loaded, now)
    const lines = [...describeJobs(states, now), ...allProblems.map((problem) => `✗ ${problem}`)]
    printResult(context, isJson, { jobs: states.map(jobObject), problems: allProblems }, lines)
    return allProblems.length === 0 ? 0 : WRONG_USE
  },
)

function findRefusal(job: Job, channels: readonly ChannelSetting[]): readonly string[] {
  try {
    chooseJobChannels(job, channels)
    return []
  } catch (error) {
    return problemsOf(error)
  }
}

/** Each job's times are in its own zone. */
function describeJobs(states: readonly JobState[], nowMs: number): string[] {
  const rows = states.map(({ job, next, last, outcome }) => {
    const minute = formatMinuteIn(job.timeZone)
    return [
      job.name,
      job.kind,
      job.cron,
      job.timeZone,
      next === undefined ? 'off' : minute(next),
      last === undefined ? 'never' : `${minute(last.startedAt)} (${formatAge(nowMs - last.startedAt.getTime())} ago)`,
      outcome ?? '–',
    ]
  })
  const problems = states.flatMap(({ job, last }) => (last?.error ? [`✗ ${job.name}: ${last.error}`] : []))
  return [...formatTable(['job', 'kind', 'cron', 'zone', 'next', 'last', 'outcome'], rows), ...problems]
}

function jobObject({ job, next, last, isRunning, outcome }: JobState): object {
  return {
    job: job.name,
    kind: job.kind,
    cron: job.cron,
    time_zone: job.timeZone,
    enabled: job.isEnabled,
    next_at: next ?? null,
    running: isRunning,
    last_started_at: last?.startedAt ?? null,
    last_finished_at: last?.finishedAt ?? null,
    last_outcome: outcome ?? null,
    last_run_id: last?.runId ?? null,
    last_error: last?.error ?? null,
  }
}

/** Loads one job; others may be invalid. @throws usage.invalid if there is no job of this name; config.invalid */
export async function loadConfiguredJob({ environment }: Pick<CliContext, 'environment'>, name: string): Promise<Job> {
  const options = readSettings(environment, readLoadOptions)
  const names = await listJobs(options)
  if (!names.includes(name)) {
    const hint = `${didYouMean(name, names)}; there are ${names.join(', ') || 'none'}`
    throw wrongUse(`there is no job ${JSON.stringify(name)} in ${options.folder}${hint}`)
  }
  const [job] = await loadJobs(options, [name])
  if (job === undefined) throw new Error(`the job ${name} is gone`)
  return job
}

/**
 * Reads the settings for a run of a job, with the channels of the job. Called for each run, so that an edited list of
 * channels takes effect. @throws config.invalid, also if the job names channels that are not configured
 */
export function readJobSettings(context: Pick<CliContext, 'environment' | 'clock'>, job: Job): ExtractionSettings {
  return readExtractionSettings(context, chooseJobStreams(job), (configured) => chooseJobChannels(job, configured))
}

/** The folder of the jobs, and the zone of those that name none. */
export function readLoadOptions(source: SettingSource) {
  return { folder: readJobsDir(source), timeZone: readServiceTimeZone(source) }
}
