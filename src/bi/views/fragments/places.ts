/** The list of places as an object, keyed by the head of an address; built once a query. */
const placesBy = (column: string) =>
  `(select jsonb_object_agg(k.head, k.${column}) from livehouse_ops.places k where k.${column} is not null)`

const SEPARATORS = ' \u3000-,，、/|·'
const SUFFIX = '(?:维吾尔自治区|壮族自治区|回族自治区|自治区|特别行政区|省|市)'

/**
 * The province at the head of an address, or after 中国, in its short form (浙江, 内蒙古); NULL if the list of places lacks
 * it. No regular expression, as there are millions of rows.
 */
export function province(address: string): string {
  const atHeadOf = (text: string) =>
    [2, 3].map((length) => `${placesBy('province')} ->> left(${text}, ${length})`).join(', ')
  const behind = `ltrim(substr(${address}, 3), '${SEPARATORS}')`
  const behindCountry = `case when left(${address}, 2) = '中国' then coalesce(${atHeadOf(behind)}) end`
  return `coalesce(${atHeadOf(address)}, ${behindCountry})`
}

/**
 * The city after the province of an address, as the list of places writes it (杭州, 大理白族自治州); a municipality is its own
 * city. NULL if the list lacks it, so that no other typed text is shown.
 */
export function city(address: string): string {
  const joined = `translate(${address}, '${SEPARATORS}', '')`
  const text = `regexp_replace(regexp_replace(${joined}, '^中国', ''), '^(..|...)${SUFFIX}', E'\\\\1')`
  // A head of province and city has four to seven characters, a municipality two. The longest comes first.
  const heads = [7, 6, 5, 4, 2].map((length) => `${placesBy('city')} ->> left(t.text, ${length})`)
  return `(select coalesce(${heads.join(', ')}) from (select ${text} as text offset 0) t
    where ltrim(${address}, '${SEPARATORS}') = ${address})`
}
