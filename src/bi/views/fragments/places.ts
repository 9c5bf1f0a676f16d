/** Whose address is the city itself. */
const municipalities = ['北京', '天津', '上海', '重庆', '香港', '澳门'] as const

/** By their first two characters, and the two of three characters. */
const provinces =
  '河北 山西 辽宁 吉林 江苏 浙江 安徽 福建 江西 山东 河南 湖北 湖南 广东 广西 海南 四川 贵州 云南 西藏 陕西 甘肃 青海 宁夏 新疆 台湾'.split(
    ' ',
  )
const longProvinces = ['内蒙古', '黑龙江'] as const

const COUNTRY = '中国'
const SUFFIX = '(?:维吾尔自治区|壮族自治区|回族自治区|自治区|特别行政区|省|市)?'

/** The province at the head of an address that has no separators, in its short form (浙江, 内蒙古); NULL elsewhere. Without a regular expression: millions of rows. */
export function province(address: string): string {
  const atHeadOf = (text: string) =>
    `when left(${text}, 2) in (${quoted([...municipalities, ...provinces])}) then left(${text}, 2) ` +
    `when left(${text}, 3) in (${quoted(longProvinces)}) then left(${text}, 3) `
  const afterCountry = `substr(${address}, ${COUNTRY.length + 1})`
  return `case ${atHeadOf(address)}when left(${address}, 2) = '${COUNTRY}' then case ${atHeadOf(afterCountry)}end end`
}

/**
 * The city behind the province: up to 市, 自治州, 地区 or 盟, or all that is left where it is at most five characters long. A
 * municipality is its own city. NULL where it cannot be told.
 */
export function city(address: string): string {
  const all = [...municipalities, ...provinces, ...longProvinces].join('|')
  const rest = `regexp_replace(${address}, '^(?:${COUNTRY})?(?:${all})${SUFFIX}', '')`
  return (
    `case when ${province(address)} in (${quoted(municipalities)}) then ${province(address)} ` +
    `when ${province(address)} is not null then coalesce(substring(${rest} from '^(.{1,10}?)市'), ` +
    `substring(${rest} from '^.{1,12}?(?:自治州|地区|盟)'), substring(${rest} from '^.{1,5}$')) end`
  )
}

function quoted(words: readonly string[]): string {
  return words.map((word) => `'${word}'`).join(', ')
}
