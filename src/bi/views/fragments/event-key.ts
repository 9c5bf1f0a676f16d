import { hashed } from './masks.ts'

/**
 * The identity of a gift or signup as analysts may see it. That of a record whose time could not be read is a plain hash over
 * all of its content, from which a phone number could be guessed: it is hashed once more, under the key.
 */
export function eventKey(keySql: string, timeSql: string): string {
  return `case when ${timeSql} is not null then ${keySql} else ${hashed(keySql)} end`
}
