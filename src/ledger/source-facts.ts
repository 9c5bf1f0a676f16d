import type { Kysely } from 'kysely'
import { type FactTopic, factTopics, type KnownFact, type SourceFact } from '../core/source-fact.ts'
import type { Database } from '../store/database.ts'

/** Every fact that is kept, in the order of the topics; those of a newer version are left out. */
export async function readSourceFacts(db: Kysely<Database>): Promise<readonly KnownFact[]> {
  const rows = await db
    .selectFrom('livehouse_ops.source_facts')
    .select(['topic', 'subject', 'answer', 'evidence', 'found_at'])
    .orderBy('subject', 'desc')
    .execute()
  const topics = Object.keys(factTopics)
  const facts = rows.flatMap(({ topic, found_at, ...row }) =>
    isTopic(topic) ? [{ topic, ...row, foundAt: found_at }] : [],
  )
  return facts.toSorted((a, b) => topics.indexOf(a.topic) - topics.indexOf(b.topic))
}

/** Keeps what a probe found. What could not be known this time leaves an earlier answer as it is. */
export async function keepSourceFacts(
  db: Kysely<Database>,
  facts: readonly SourceFact[],
  { runId, foundAt }: { readonly runId: string; readonly foundAt: Date },
): Promise<void> {
  if (facts.length === 0) return
  const rows = facts.map((fact) => ({ ...fact, found_at: foundAt, run_id: runId }))
  await db
    .insertInto('livehouse_ops.source_facts')
    .values(rows)
    .onConflict((conflict) =>
      conflict
        .columns(['topic', 'subject'])
        .doUpdateSet((eb) => ({
          answer: eb.ref('excluded.answer'),
          evidence: eb.ref('excluded.evidence'),
          found_at: eb.ref('excluded.found_at'),
          run_id: eb.ref('excluded.run_id'),
        }))
        .where((eb) =>
          eb.or([eb('excluded.answer', 'is not', null), eb('livehouse_ops.source_facts.answer', 'is', null)]),
        ),
    )
    .execute()
}

function isTopic(topic: string): topic is FactTopic {
  return Object.hasOwn(factTopics, topic)
}
