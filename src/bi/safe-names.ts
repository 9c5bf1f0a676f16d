/** What Postgres keeps of a name, in bytes. */
const LONGEST_NAME = 63

/** The words that Postgres 14 to 18 does not take as a column's name without quotes, or that are its own columns. */
const reserved = new Set(
  (
    'all analyse analyze and any array as asc asymmetric authorization binary both case cast check collate collation column ' +
    'concurrently constraint create cross current_catalog current_date current_role current_schema current_time current_timestamp ' +
    'current_user default deferrable desc distinct do else end except false fetch for foreign freeze from full grant group having ' +
    'ilike in initially inner intersect into is isnull join lateral leading left like limit localtime localtimestamp natural not ' +
    'notnull null offset on only or order outer overlaps placing primary references returning right select session_user similar ' +
    'some symmetric system_user table tablesample then to trailing true union unique user using variadic verbose when where window ' +
    'with between bigint bit boolean char character coalesce dec decimal exists extract float greatest grouping inout int integer ' +
    'interval json json_array json_arrayagg json_exists json_object json_objectagg json_query json_scalar json_serialize json_table ' +
    'json_value least merge_action national nchar none normalize nullif numeric out overlay position precision real row setof ' +
    'smallint substring time timestamp treat trim values varchar xmlattributes xmlconcat xmlelement xmlexists xmlforest ' +
    'xmlnamespaces xmlparse xmlpi xmlroot xmlserialize xmltable ctid oid tableoid xmin cmin xmax cmax'
  ).split(' '),
)

/**
 * A name that needs no quotes, from any text: letters and digits of any language in lower case, everything else, markup
 * included, as single underscores; at most 63 bytes, cut at a character. @param fallback where nothing of the text is left
 */
export function safeName(text: string, fallback: string): string {
  const plain = text
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/<\/?[a-z][^<>]*>|&#?\w{1,10};/gu, ' ')
    .replaceAll(/[^\p{L}\p{M}\p{N}]+/gu, '_')
    .replaceAll(/^_+|_+$/g, '')
  const name = plain === '' ? fallback : /^[\p{N}\p{M}]/u.test(plain) ? `q_${plain}` : plain
  return cutTo(reserved.has(name) ? `${name}_` : name, LONGEST_NAME)
}

/** The name, or with a number behind it where it is taken: `name_2`, `name_3` … */
export function uniqueName(name: string, taken: ReadonlySet<string>): string {
  let unique = name
  for (let count = 2; taken.has(unique); count += 1) {
    const suffix = `_${count}`
    unique = `${cutTo(name, LONGEST_NAME - suffix.length)}${suffix}`
  }
  return unique
}

/** Whole characters, as many as fit, without an underscore at the cut. */
function cutTo(name: string, bytes: number): string {
  if (Buffer.byteLength(name) <= bytes) return name
  let end = 0
  let length = 0
  for (const character of name) {
    length += Buffer.byteLength(character)
    if (length > bytes) break
    end += character.length
  }
  return name.slice(0, end).replace(/_+$/, '')
}
