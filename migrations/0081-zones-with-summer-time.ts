import { type Kysely, sql } from 'kysely'

/** Names that Postgres takes for offsets without summer time are refused as settings: the zones that were meant. */
const zones = { CET: 'Europe/Brussels', MET: 'Europe/Brussels', EET: 'Europe/Athens', WET: 'Europe/Lisbon' }

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const [name, zone] of Object.entries(zones))
    await sql`
      UPDATE livehouse_ops.source SET time_zone = ${sql.lit(zone)} WHERE upper(time_zone) = ${sql.lit(name)}`.execute(
      db,
    )
}

/** Which name was used is not known. */
export async function down(): Promise<void> {}
