/** Postgres truncates identifiers to this many bytes. */
const MAX_NAME_LENGTH = 63

/**
 * Makes a plain name of any text: letters and digits of any language in lower case, and single underscores for all
 * else, markup included. At most 63 bytes of whole characters; needs quotes only if it is an SQL keyword.
 * @param fallback used if nothing of the text is left
 */
export function safeName(text: string, fallback: string): string {
  const plain = text
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/<\/?[a-z][^<>]*>|&#?\w{1,10};/gu, ' ')
    .replaceAll(/[^\p{L}\p{M}\p{N}]+/gu, '_')
    .replaceAll(/^_+|_+$/g, '')
  const name = plain === '' ? fallback : /^[\p{N}\p{M}]/u.test(plain) ? `q_${plain}` : plain
  return cutTo(name, MAX_NAME_LENGTH)
}

/** Appends a number to a name that is taken: `name_2`, `name_3` … */
export function uniqueName(name: string, taken: ReadonlySet<string>): string {
  let unique = name
  for (let count = 2; taken.has(unique); count += 1) {
    const suffix = `_${count}`
    unique = `${cutTo(name, MAX_NAME_LENGTH - suffix.length)}${suffix}`
  }
  return unique
}

/** Cuts a name that is too long between characters, without a trailing underscore. */
function cutTo(name: string, bytes: number): string {
  let cut = name.slice(0, bytes)
  while (Buffer.byteLength(cut) > bytes) cut = cut.replace(/.$/su, '')
  return cut.replace(/_+$/, '')
}
