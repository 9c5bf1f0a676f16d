import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Migration } from 'kysely/migration'

const folder = join(import.meta.dirname, '..', '..', 'migrations')
const MIGRATION_FILE = /^(\d{4}-[a-z0-9-]+)\.ts$/

/** Every migration of the code by its name (`NNNN-name`), in their order; each exports `up` and `down`. */
export async function loadMigrations(): Promise<Record<string, Migration>> {
  const names = (await readdir(folder)).flatMap((file) => MIGRATION_FILE.exec(file)?.[1] ?? []).sort()
  const migrations: Record<string, Migration> = {}
  for (const name of names) migrations[name] = await import(pathToFileURL(join(folder, `${name}.ts`)).href)
  return migrations
}
