import { openConfiguredDatabase } from '../app/open-database.ts'
import type { DatabaseSettings } from '../app/settings.ts'
import { migrateDown } from '../bi/publish/migrate-down.ts'
import { type BiOutcome, planForDba, publishBi } from '../bi/publish/publish-bi.ts'
import { type FormsOutcome, publishForms } from '../bi/publish/publish-forms.ts'
import { refreshFigures } from '../bi/publish/refresh-figures.ts'
import { readLanguage } from '../config/values.ts'
import { readDatabaseSettings, readServiceTimeZone, readSettings } from '../config.ts'
import { hasCode } from '../core/errors.ts'
import { openQueue, planQueue } from '../scheduler/open-queue.ts'
import type { Db } from '../store/database.ts'
import { loadMigrations, migrateUp, readMigrationStatus, readPending } from '../store/migrate.ts'
import { migrationSql } from '../store/migration-sql.ts'
import type { CliContext } from './command.ts'
import { formatMinuteIn } from './format.ts'
import { defineCommand } from './usage.ts'

export const migrate = defineCommand(
  {
    about: `Manages the schema of the database in DATABASE_URL. Commands apply pending migrations by themselves, unless
LIVEHOUSE_AUTO_MIGRATE is 0.`,
    actions: {
      up: 'applies what is pending, all or nothing, and brings the views and their roles up to date',
      down: 'reverts the last migration, and drops the tables that it made with their rows',
      status: 'lists every migration and when it was applied',
      sql: 'prints the SQL of what is pending, for a DBA, who runs it with psql',
    },
    flags: {},
    examples: `livehouse migrate status
livehouse migrate sql > pending.sql
LIVEHOUSE_AUTO_MIGRATE=0 livehouse sync   # stops where migrations are pending, and names them`,
  },
  ({ action }) => ({ action }),
  async (context, { action }) => {
    const { timeZone, language, settings } = readSettings(context.environment, (source) => ({
      timeZone: readServiceTimeZone(source),
      language: readLanguage(source),
      settings: readDatabaseSettings(source),
    }))
    await using db = await openConfiguredDatabase(context, settings)
    const { signal } = context
    switch (action) {
      case 'up': {
        report(context, 'applied', await migrateUp(db, { signal }))
        const bi = await publishBi(db, { signal, settings: settings.bi, timeZone })
        await refreshFigures(db, signal)
        const code = reportBi(context, bi, await publishForms(db, signal))
        // Last, as the queue may be on another server, which may be down.
        await makeQueue(context, settings)
        return code
      }
      case 'down':
        return report(context, 'reverted', await migrateDown(db, { signal }))
      case 'status':
        for (const { name, appliedAt } of await readMigrationStatus(db, { signal }))
          context.print(`${name}  ${appliedAt ? formatMinuteIn(timeZone)(new Date(appliedAt)) : 'pending'}`)
        return 0
      case 'sql':
        return await showSql(context, await planForDba(db, timeZone, language), db, settings.queueUrl)
    }
  },
)

/** Creates the queue's schema. Only remarks if it has no right to: not everybody uses the queue. */
async function makeQueue(context: CliContext, settings: DatabaseSettings): Promise<void> {
  try {
    await (await openQueue(context, { ...settings, isAutoMigrated: true }))[Symbol.asyncDispose]()
  } catch (error) {
    if (!hasCode(error, 'db.refused')) throw error
    context.remark(`the queue of livehouse worker was not created: ${error.message}`)
  }
}

function reportBi({ remark }: CliContext, { status, notice }: BiOutcome, forms: FormsOutcome): number {
  if (status === 'published') remark('published: the views of livehouse_bi')
  for (const view of forms.views) remark(`published: livehouse_forms.${view}`)
  for (const each of [notice ?? [], ...forms.notices.values()].flat()) remark(each)
  return status === 'blocked' || forms.notices.size > 0 ? 1 : 0
}

function report({ print }: CliContext, done: string, names: readonly string[]): number {
  if (names.length === 0) print(`nothing to do: no migration was ${done}`)
  for (const name of names) print(`${done}: ${name}`)
  return 0
}

/** Prints the pending SQL. A queue in a database of its own is left to `migrate up`. */
async function showSql(
  { print, signal }: CliContext,
  views: readonly string[],
  db: Db,
  queueUrl: string | undefined,
): Promise<number> {
  const missing = await readPending(db, { signal })
  const pending = Object.entries(await loadMigrations()).filter(([name]) => missing.includes(name))
  const queue = queueUrl === undefined ? await planQueue(db) : []
  const isNothing = pending.length + views.length + queue.length === 0
  print(isNothing ? '-- nothing is pending' : await migrationSql(Object.fromEntries(pending), views, queue))
  return 0
}
