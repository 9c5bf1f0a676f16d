import type { Random } from './random.ts'

type Choices = readonly [string, ...string[]]

/** @param text at least one word, separated by `|` */
function choicesOf(text: string): Choices {
  const [first = '', ...others] = text.split('|')
  return [first, ...others]
}

const SURNAMES = choicesOf('王|李|张|刘|陈|杨|赵|黄|周|吴|徐|孙|欧阳|司马')
const GIVEN = choicesOf('伟|芳|娜|秀英|敏|静|强|磊|洋|艳|勇|杰|子涵|梓萱|浩然|一诺|雨桐')
const FANCY = choicesOf(
  '阳光总在风雨后|小幸运🍀|追风少年|Lucky_Dog|不吃香菜🌿|静待花开 🌸|“老张”茶馆|大海,蓝天|' +
    "Tom's 学习笔记|加油👨‍👩‍👧|一只特立独行的𠮷|反斜杠\\先生|每天进步1%|A_产品经理",
)
export const CHANNEL_TOPICS = choicesOf(
  '新品发布会|年度峰会|在线公开课|健康讲座|招聘宣讲会|产品培训|读书分享会|技术沙龙',
)

const REGIONS: readonly [readonly [string, Choices], ...(readonly [string, Choices])[]] = [
  ['浙江省', ['浙江杭州', '浙江宁波', '浙江温州', '浙江绍兴']],
  ['江苏省', ['江苏南京', '江苏苏州', '江苏无锡']],
  ['上海市', ['上海']],
  ['北京市', ['北京']],
  ['广东省', ['广东广州', '广东深圳', '广东东莞']],
  ['四川省', ['四川成都', '四川绵阳']],
  ['湖北省', ['湖北武汉']],
  ['山东省', ['山东济南', '山东青岛']],
  ['内蒙古自治区', ['内蒙古呼和浩特']],
  ['美国', ['美国加利福尼亚']],
  ['未知地区', ['']],
]

/** Where a viewer is, and the nickname of an anonymous viewer from there. */
export function choosePlace(random: Random) {
  const [province, cities] = random.pick(REGIONS)
  return { addr: random.pick(cities), anonymousNick: `${province}网友` }
}

/** About a third of the viewers are anonymous, so nicknames are not unique. */
export function chooseNick(random: Random, place: ReturnType<typeof choosePlace>): string {
  if (random.chance(0.35)) return place.anonymousNick
  return random.chance(0.25) ? random.pick(FANCY) : choosePersonName(random)
}

export function choosePersonName(random: Random): string {
  return random.pick(SURNAMES) + random.pick(GIVEN)
}

export function choosePhone(random: Random): string {
  const prefix = random.pick(['30', '35', '38', '50', '59', '77', '86', '89'])
  return `1${prefix}${String(random.between(0, 99_999_999)).padStart(8, '0')}`
}

/** Mostly IPv4, sometimes IPv6 in its shortest form. */
export function chooseIp(random: Random): string {
  if (random.chance(0.06))
    return `2408:8409:${random.between(0x1000, 0xffff).toString(16)}::${random.between(1, 0xffff).toString(16)}`
  const network = random.pick(['36', '58', '101', '112', '115', '183', '223'])
  return [network, random.between(0, 255), random.between(0, 255), random.between(1, 254)].join('.')
}

/** What someone watches with: device, browser (the "watching method") and access source, as display text. */
export function chooseEquipment(random: Random): Record<'device' | 'browser' | 'origin', string> {
  const origin = random.pick(['直接访问', '直接访问', '微信', '朋友圈', 'live.example.com', 'www.example.com/活动'])
  if (random.chance(0.3))
    return { device: '电脑端', browser: random.pick(['谷歌浏览器', 'Edge', 'IE9', '火狐浏览器']), origin }
  if (random.chance(0.05)) return { device: '平板', browser: 'Safari', origin }
  return { device: '移动端', browser: random.pick(['微信', '微信', 'QQ浏览器', 'Safari', '其他']), origin }
}
