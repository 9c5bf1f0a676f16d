import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Migration } from 'kysely/migration'
import { moduleEnding, programFolder } from '../core/program-files.ts'

const folder = join(programFolder, 'migrations')
const MIGRATION_FILE = /^(\d{4}-[a-z0-9-]+)\.(?:ts|mjs)$/

/** Names (`NNNN-name`) of every migration of the code, in their order. None is loaded. */
export async function readMigrationNames(): Promise<readonly string[]> {
  return (await readdir(folder)).flatMap((file) => MIGRATION_FILE.exec(file)?.[1] ?? []).sort()
}

/** Every migration of the code by its name, in their order; each exports `up` and `down`. */
export async function loadMigrations(): Promise<Record<string, Migration>> {
  const migrations: Record<string, Migration> = {}
  for (const name of await readMigrationNames())
    migrations[name] = await import(pathToFileURL(join(folder, `${name}${moduleEnding}`)).href)
  return migrations
}
