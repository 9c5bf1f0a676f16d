import type { Stream } from '../core/stream.ts'

/** The fields that every item has where the service gives them at all; none where items are read by their place (API 4.11). */
export function expectedFields({ columns, readItem }: Stream): readonly string[] {
  if (readItem !== undefined) return []
  return Object.values(columns).flatMap(({ source }) =>
    source.kind === 'field' && source.isOptional !== true ? [source.field] : [],
  )
}

/** Takes the fields that an item has out of those that none had so far. */
export function removePresent(absent: Set<string>, item: unknown): void {
  for (const field of absent) if (Object.hasOwn(Object(item), field)) absent.delete(field)
}
